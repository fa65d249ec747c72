/** The statements about an organization's memberships, invitations and rows that other features include in their batches. */
import { eq, type SQL, sql } from "drizzle-orm";
import { build, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import { apiKeys } from "../accounts/table.ts";
import { invitations } from "../members/table.ts";
import type { OrganizationTable } from "./tables.ts";

export type Row = Readonly<Record<string, string | number | null>>;

const MEMBERSHIPS_AT_ONCE = 1_000;

/** Deletes up to `limit` memberships, owners first. A deleted organization gives no access by the others. */
export const deleteMembershipsOf = (
  { accountId }: Tenant,
  limit: number = MEMBERSHIPS_AT_ONCE,
): Statement<{ deleted: number }> => statement`DELETE FROM memberships WHERE rowid IN (
      SELECT rowid FROM memberships WHERE account_id = ${accountId} ORDER BY role DESC, person_id DESC LIMIT ${limit}
    ) RETURNING 1 AS deleted`;

/** Deletes all invitations of the organization, whose quota bounds them. */
export const deleteInvitationsOf = ({ accountId }: Tenant): Statement =>
  statement(build.delete(invitations).where(eq(invitations.accountId, accountId)));

/** Deletes all keys of the organization. */
export const deleteKeysOf = ({ accountId }: Tenant): Statement<{ hash: string }> =>
  statement(build.delete(apiKeys).where(eq(apiKeys.accountId, accountId)).returning({ hash: apiKeys.hash }));

/** The statements whose rows together are the slice behind a row; in each, one more column equals that row's. */
export function selectSlice(
  { name, where, order, atOnce }: OrganizationTable,
  accountId: string,
  after: readonly unknown[] | null,
): [Statement<Row>, ...Statement<Row>[]] {
  const columns = order.map(({ column, isDescending }) => ({ column: sql.raw(column), isDescending }));
  const terms = columns.map(({ column, isDescending }) => (isDescending ? sql`${column} DESC` : column));
  const select = (...conditions: readonly SQL[]): Statement<Row> =>
    statement`SELECT * FROM ${sql.raw(name)} WHERE ${sql.join([where(accountId), ...conditions], sql` AND `)}
        ORDER BY ${sql.join(terms, sql`, `)} LIMIT ${atOnce}`;
  if (after === null) return [select()];
  const [first, ...others] = columns
    .map(({ column, isDescending }, at) => {
      const isBehind = isDescending ? sql`${column} < ${after[at]}` : sql`${column} > ${after[at]}`;
      const equal = columns.slice(0, at).map((earlier, index) => sql`${earlier.column} = ${after[index]}`);
      return select(...equal, isBehind);
    })
    .reverse();
  if (first === undefined) throw new Error(`The table ${name} has no order`);
  return [first, ...others];
}

const MAX_PARAMS = 100;

/** Writes rows as they are, in place of those that are there. `ending` follows: a condition, or what is returned. */
export function upsertRows(
  name: string,
  primaryKey: readonly string[],
  rows: readonly Row[],
  ending: SQL = sql``,
): Statement[] {
  const columns = Object.keys(rows[0] ?? {});
  const atOnce = Math.max(1, Math.floor(MAX_PARAMS / Math.max(1, columns.length)));
  const listOf = (names: readonly string[]): SQL =>
    sql.join(
      names.map((each) => sql.identifier(each)),
      sql`, `,
    );
  const changed = columns
    .filter((column) => !primaryKey.includes(column))
    .map((column) => sql`${sql.identifier(column)} = excluded.${sql.identifier(column)}`);
  return Array.from({ length: Math.ceil(rows.length / atOnce) }, (_, index) => {
    const some = rows.slice(index * atOnce, (index + 1) * atOnce);
    const values = some.map((row) => sql`${columns.map((column) => row[column])}`);
    return statement`INSERT INTO ${sql.identifier(name)} (${listOf(columns)}) VALUES ${sql.join(values, sql`, `)}
        ON CONFLICT (${listOf(primaryKey)}) DO UPDATE SET ${sql.join(changed, sql`, `)}${ending}`;
  });
}
