/** Which tables a move copies, compares and removes, and in which order. */
import { ORGANIZATION_TABLES, type OrganizationTable } from "./tables.ts";

/** What members and keys did is recorded in the directory, and stays there, as do the counts of members and keys. */
const IN_BOTH = ["audit_entries", "receipts"];
const MOVED = ORGANIZATION_TABLES.map((table) =>
  IN_BOTH.includes(table.name) ? { ...table, where: `${table.where} AND in_directory = 0` } : table,
);
export const QUOTAS: OrganizationTable = {
  name: "quotas",
  where: "account_id = ? AND in_directory = 0",
  paramsOf: (accountId) => [accountId],
  primaryKey: ["account_id", "quota"],
  order: [{ column: "quota", isDescending: false }],
  atOnce: 100,
};
/** Rooms twice: triggers count their users and files while these are copied. Quotas last, when nothing counts any more. */
export const COPIED = [...MOVED, ...MOVED.filter(({ name }) => name === "rooms"), QUOTAS];
export const ROOMS = COPIED.findIndex(({ name }) => name === "rooms");
export const COMPARED = [...MOVED, QUOTAS];
export const REMOVED = MOVED.toReversed();
