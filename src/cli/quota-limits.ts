/** Shows an organization's quotas and sets its limits, directly in the database: only the operator can. */
import { QUOTAS, type QuotaName } from "../quotas/quota.ts";
import { insertOperatorEntry } from "./audit-store.ts";
import { type Database, executeOnTables, quoteSql } from "./database.ts";
import { placeOf } from "./organization.ts";
import { CommandError, UsageError } from "./process/command.ts";

/** The limits to set; null for the deployment's default. */
export type LimitChanges = ReadonlyMap<QuotaName, number | null>;

/** The use of a quota; `limit` is null where the deployment's default applies. */
export interface ShownQuota {
  readonly quota: string;
  readonly used: number;
  readonly limit: number | null;
}

const CHANGE = /^([a-z_]+)=(default|0|[1-9]\d{0,14})$/;

/** Parses `name=value`, where the value is a whole number or `default`. */
export function parseLimits(args: readonly string[]): LimitChanges {
  return new Map(
    args.map((arg) => {
      const [, name, value] = CHANGE.exec(arg) ?? [];
      const quota = QUOTAS.find((candidate) => candidate === name);
      if (quota === undefined || value === undefined)
        throw new UsageError(
          `${arg}: write NAME=VALUE, with one of ${QUOTAS.join(", ")} and a whole number or "default".`,
        );
      return [quota, value === "default" ? null : Number(value)] as const;
    }),
  );
}

/** Sets the limits, and returns all quotas of the organization. */
export async function setLimits(
  database: Database,
  accountId: string,
  changes: LimitChanges,
  stop: AbortSignal,
): Promise<readonly ShownQuota[]> {
  const ofAccount = `account_id = ${quoteSql(accountId)}`;
  const statements = [...changes].map(
    ([quota, max]) =>
      `UPDATE quotas SET max = ${max ?? "NULL"} WHERE ${ofAccount} AND quota = ${quoteSql(quota)}`,
  );
  if (changes.size > 0)
    statements.push(insertOperatorEntry(accountId, "setLimits", "quotas", Object.fromEntries(changes)));
  statements.push(`SELECT quota, used, max FROM quotas WHERE ${ofAccount}`);
  const place = await placeOf(database, accountId, stop);
  const rows = (await executeOnTables(place, statements, stop)).at(-1) ?? [];
  if (rows.length === 0)
    throw new CommandError(`No organization has the ID ${accountId}; the dashboard shows it under Settings.`);
  return QUOTAS.flatMap((quota) =>
    rows
      .filter((row) => row.quota === quota)
      .map(({ used, max }) => ({ quota, used: Number(used), limit: max === null ? null : Number(max) })),
  );
}
