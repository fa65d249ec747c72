/** The statements about an organization's memberships, invitations and rows that other features include in their batches. */
import { eq } from "drizzle-orm";
import { build, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import { apiKeys } from "../accounts/table.ts";
import { invitations } from "../members/table.ts";
import type { OrganizationTable } from "./tables.ts";

export type Row = Readonly<Record<string, string | number | null>>;

const MEMBERSHIPS_AT_ONCE = 1_000;

/** Deletes up to `limit` memberships, those of owners first. A deleted organization gives no access by the others. */
export const deleteMembershipsOf = (
  { accountId }: Tenant,
  limit: number = MEMBERSHIPS_AT_ONCE,
): Statement<{ deleted: number }> => ({
  sql: `DELETE FROM memberships WHERE rowid IN (
          SELECT rowid FROM memberships WHERE account_id = ? ORDER BY role DESC, person_id DESC LIMIT ?
        ) RETURNING 1 AS deleted`,
  params: [accountId, limit],
});

/** Deletes all invitations of the organization: as many as its quota has allowed. */
export const deleteInvitationsOf = ({ accountId }: Tenant): Statement =>
  statement(build.delete(invitations).where(eq(invitations.accountId, accountId)));

/** Deletes all keys of the organization. */
export const deleteKeysOf = ({ accountId }: Tenant): Statement<{ hash: string }> =>
  statement(build.delete(apiKeys).where(eq(apiKeys.accountId, accountId)).returning({ hash: apiKeys.hash }));

/** The statements whose rows together are the slice behind a row: of each, one more column equals that row's. */
export function selectSlice(
  { name, where, paramsOf, order, atOnce }: OrganizationTable,
  accountId: string,
  after: readonly unknown[] | null,
): [Statement<Row>, ...Statement<Row>[]] {
  const terms = order.map(({ column, isDescending }) => `${column}${isDescending ? " DESC" : ""}`);
  const select = (condition: string, params: readonly unknown[]): Statement<Row> => ({
    sql: `SELECT * FROM ${name} WHERE ${where}${condition} ORDER BY ${terms.join()} LIMIT ${atOnce}`,
    params: [...paramsOf(accountId), ...params],
  });
  if (after === null) return [select("", [])];
  const [first, ...others] = order
    .map(({ column, isDescending }, at) => {
      const equal = order.slice(0, at).map((earlier) => ` AND ${earlier.column} = ?`);
      return select(`${equal.join("")} AND ${column} ${isDescending ? "<" : ">"} ?`, after.slice(0, at + 1));
    })
    .reverse();
  if (first === undefined) throw new Error(`The table ${name} has no order`);
  return [first, ...others];
}

const MAX_PARAMS = 100;

/** Writes rows as they are, in place of those that are there. */
export function upsertRows(name: string, primaryKey: readonly string[], rows: readonly Row[]): Statement[] {
  const columns = Object.keys(rows[0] ?? {});
  const atOnce = Math.max(1, Math.floor(MAX_PARAMS / Math.max(1, columns.length)));
  const changed = columns.filter((column) => !primaryKey.includes(column));
  const conflict = changed.map((column) => `"${column}" = excluded."${column}"`).join();
  return Array.from({ length: Math.ceil(rows.length / atOnce) }, (_, index) => {
    const some = rows.slice(index * atOnce, (index + 1) * atOnce);
    const values = some.map(() => `(${columns.map(() => "?").join()})`);
    return {
      sql: `INSERT INTO ${name} (${columns.map((column) => `"${column}"`).join()}) VALUES ${values.join()}
            ON CONFLICT (${primaryKey.join()}) DO UPDATE SET ${conflict}`,
      params: some.flatMap((row) => columns.map((column) => row[column])),
    };
  });
}
