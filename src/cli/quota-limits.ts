/** Shows an organization's quotas and sets its limits, directly in the database: only the operator can. */
import { isInDirectory, QUOTAS, type QuotaName } from "../wire/quota.ts";
import { insertOperatorEntry } from "./audit-store.ts";
import { type Database, executeOnTables, isDirectory, quoteSql, type Rows } from "./database.ts";
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
  const place = await placeOf(database, accountId, stop);
  const rows = isDirectory(place)
    ? await setLimitsIn(place, accountId, changes, stop)
    : [
        ...(await setLimitsIn(place, accountId, changes, stop, false)),
        ...(await setLimitsIn(database, accountId, changes, stop, true)),
      ];
  if (rows.length === 0)
    throw new CommandError(`No organization has the ID ${accountId}; the dashboard shows it under Settings.`);
  return QUOTAS.flatMap((quota) =>
    rows
      .filter((row) => row.quota === quota)
      .map(({ used, max }) => ({ quota, used: Number(used), limit: max === null ? null : Number(max) })),
  );
}

/** The same in one database: of all quotas, of those that {@link isInDirectory}, or of the others. */
async function setLimitsIn(
  database: Database,
  accountId: string,
  changes: LimitChanges,
  stop: AbortSignal,
  inDirectory?: boolean,
): Promise<Rows> {
  const isHere = (quota: unknown) =>
    inDirectory === undefined || isInDirectory(String(quota)) === inDirectory;
  const here = [...changes].filter(([quota]) => isHere(quota));
  const ofAccount = `account_id = ${quoteSql(accountId)}`;
  const statements = here.map(
    ([quota, max]) =>
      `UPDATE quotas SET max = ${max ?? "NULL"} WHERE ${ofAccount} AND quota = ${quoteSql(quota)}`,
  );
  if (here.length > 0) {
    const options = { inDirectory: inDirectory === true };
    statements.push(insertOperatorEntry(accountId, "setLimits", "quotas", Object.fromEntries(here), options));
  }
  statements.push(`SELECT quota, used, max FROM quotas WHERE ${ofAccount}`);
  const rows = (await executeOnTables(database, statements, stop)).at(-1) ?? [];
  return rows.filter(({ quota }) => isHere(quota));
}
