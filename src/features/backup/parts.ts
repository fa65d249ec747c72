/** Parts of an organization's backup that are rows of D1: their tables, and the order of copying and restoring. */
import {
  beyondDirectory,
  ORGANIZATION_TABLES,
  type OrganizationTable,
  ofDirectory,
  organizationTable,
} from "../organizations/tables.ts";
import { OBJECT_PARTS, PARTS } from "./format.ts";

type ParentPart = "rooms" | "room_links" | "workflows" | "identity_groups" | "identities";

export interface RowPart {
  readonly name: string;
  readonly table: OrganizationTable;
  readonly database: "organization" | "directory";
  /** Each column has the ID of a row of that part, or null. */
  readonly parents?: readonly { readonly part: ParentPart; readonly column: string }[];
}

type Options = Partial<Pick<RowPart, "name" | "database" | "parents"> & Pick<OrganizationTable, "atOnce">> & {
  /** The part of the table's rows. */
  readonly rowsOf?: (table: OrganizationTable) => OrganizationTable;
};

/** A table of the list that moves use. */
function listed(table: string, { rowsOf = (table) => table, atOnce, ...options }: Options = {}): RowPart {
  const found = ORGANIZATION_TABLES.find(({ name }) => name === table);
  if (found === undefined) throw new Error(`No organization owns rows of ${table}`);
  const sliced = { ...rowsOf(found), atOnce: atOnce ?? found.atOnce };
  return { name: table, database: "organization", ...options, table: sliced };
}

const QUOTAS = ["account_id", "quota"];

/** The organization's rows in the directory. */
const ownOfDirectory = (
  name: string,
  table: string,
  primaryKey: readonly string[],
  order: string[],
): RowPart => ({
  name,
  database: "directory",
  table: organizationTable(table, primaryKey, { order, atOnce: 40 }),
});

const quotasOf = (
  name: string,
  { rowsOf, database }: Required<Pick<Options, "rowsOf" | "database">>,
): RowPart => ({
  name,
  database,
  table: rowsOf(organizationTable("quotas", QUOTAS, { order: ["quota"], atOnce: 40 })),
});

/** Members with name and email: another deployment may know the person by another ID. */
const MEMBERS = `(SELECT memberships.account_id, memberships.person_id, memberships.role, memberships.joined_at,
  memberships.notices, people.name, people.email FROM memberships JOIN people ON people.id = memberships.person_id)`;

const inRoom = { parents: [{ part: "rooms", column: "room_id" }] } as const;
const ofWorkflow = { parents: [{ part: "workflows", column: "workflow_id" }] } as const;
const ofGroup = {
  parents: [
    { part: "identity_groups", column: "group_id" },
    { part: "identities", column: "identity_id" },
  ],
} as const;
const here = { rowsOf: beyondDirectory, database: "organization" } as const;
const inDirectory = { rowsOf: ofDirectory, database: "directory" } as const;

/**
 * Parts in copying order: receipts before their results, outboxes before their consumers, objects before users
 * and files.
 */
const ROW_PARTS: readonly RowPart[] = [
  listed("receipts", here),
  listed("receipts", { ...inDirectory, name: "receipts of the directory" }),
  listed("outbox"),
  listed("outbox_events"),
  listed("rooms"),
  listed("webhooks"),
  listed("workflows"),
  listed("workflow_versions", ofWorkflow),
  listed("workflow_secrets", ofWorkflow),
  listed("users", inRoom),
  listed("room_links", inRoom),
  listed("identities", { parents: [{ part: "room_links", column: "link_id" }] }),
  listed("identity_groups"),
  listed("group_members", ofGroup),
  listed("room_access", inRoom),
  listed("access_defaults"),
  listed("notification_defaults"),
  listed(PARTS.files, { ...inRoom, atOnce: 40 }),
  listed("audit_entries", here),
  listed("audit_entries", { ...inDirectory, name: "audit_entries of the directory" }),
  quotasOf("quotas", here),
  quotasOf("quotas of the directory", inDirectory),
  ownOfDirectory("api_keys", "api_keys", ["id"], ["created_at", "id"]),
  ownOfDirectory("members", MEMBERS, ["account_id", "person_id"], ["person_id"]),
  ownOfDirectory("invitations", "invitations", ["id"], ["created_at", "id"]),
];

export const rowPartOf = (name: string): RowPart | undefined => ROW_PARTS.find((part) => part.name === name);

/** The objects come before the users and files that they refer to, and inboxes after their identities. */
export const COPIED: readonly Pick<RowPart, "name" | "parents">[] = ROW_PARTS.flatMap(({ name, parents }) => [
  ...(name === "users" ? [{ name: PARTS.objects }] : []),
  { name, ...(parents && { parents }) },
  ...(name === "identities" ? [{ name: PARTS.inboxes }] : []),
]);

/** Access comes first, because the restore refuses everyone with access; the objects come last. */
const RESTORED_FIRST = ["api_keys", "members", "invitations", "quotas"];

export const RESTORED: readonly string[] = [
  ...RESTORED_FIRST,
  ...ROW_PARTS.map(({ name }) => name).filter((name) => !RESTORED_FIRST.includes(name)),
  ...OBJECT_PARTS,
];
