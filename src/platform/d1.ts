/** The one place that runs SQL on D1: stores describe statements, commands and queries run them in one round trip. */
import type { D1Database } from "@cloudflare/workers-types";
import { and, count, eq, fillPlaceholders, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { drizzle } from "drizzle-orm/sqlite-proxy";

/** A statement with its parameters. `row` is a type only: what each of its rows looks like. */
export interface Statement<Row = unknown> {
  readonly sql: string;
  readonly params: readonly unknown[];
  readonly row?: Row;
}

/** What statements answer, one by one. */
export type Results<T extends readonly Statement[]> = {
  -readonly [I in keyof T]: T[I] extends Statement<infer Row> ? Row[] : never;
};

/** Where statements run. */
export interface Database {
  /** Runs statements as one atomic batch, in one round trip. */
  run<const T extends readonly [Statement, ...Statement[]]>(statements: T): Promise<Results<T>>;
}

/** One organization's view of the database: the first argument of every store function. */
export interface Tenant {
  readonly accountId: string;
  readonly db: Database;
}

/** One page of a list, as stores take it. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** Folded text that the searched field contains; empty for no filter. */
  readonly search: string;
  /** Inclusive bounds of `created_at` in epoch milliseconds. */
  readonly from: number;
  readonly to: number;
}

export const openDatabase = (d1: D1Database): Database => ({
  async run(statements) {
    const bound = statements.map(({ sql, params }) => d1.prepare(sql).bind(...params));
    const results = await d1.batch(bound);
    // Each statement says by its type what its rows are: the one place where the two are joined.
    return results.map((result) => result.results) as Results<typeof statements>;
  },
});

/** Asks nothing of any table: it succeeds when D1 responds. */
export const PING: Statement = { sql: "SELECT 1", params: [] };

export const openTenant = (d1: D1Database, accountId: string): Tenant => ({
  accountId,
  db: openDatabase(d1),
});

/** drizzle without a database: it writes SQL, and {@link Database.run} runs it. */
export const build = drizzle(() => {
  throw new Error("Statements are run by Database.run");
});

/** What drizzle has built, with the type of what it answers. */
interface Query<Rows> {
  toSQL(): { readonly sql: string; readonly params: unknown[] };
  readonly _: { readonly result: Rows };
}

type RowOf<Rows> = Rows extends readonly (infer Row)[] ? Row : never;

/** A statement whose shape depends on its values, and is built each time. */
export const statement = <Rows>(query: Query<Rows>): Statement<RowOf<Rows>> => query.toSQL();

/**
 * A statement of a few shapes, each of which is built when it is first used: built on every request, this and
 * drizzle's mapping of rows took a fifth of the processor time. Values take the places of `sql.placeholder`s, by name.
 */
export function preparedByShape<Shape extends string, Rows>(
  buildShape: (shape: Shape) => Query<Rows>,
): (shape: Shape, values: object) => Statement<RowOf<Rows>> {
  const built = new Map<Shape, { readonly sql: string; readonly params: unknown[] }>();
  return (shape, values) => {
    const known = built.get(shape) ?? buildShape(shape).toSQL();
    built.set(shape, known);
    return { sql: known.sql, params: fillPlaceholders(known.params, { ...values }) };
  };
}

/** A statement of one shape, which is built when it is first used. */
export function prepared<Rows>(buildQuery: () => Query<Rows>): (values: object) => Statement<RowOf<Rows>> {
  const byShape = preparedByShape<"", Rows>(buildQuery);
  return (values) => byShape("", values);
}

type Columns<T extends SQLiteTable> = {
  [K in keyof T["$inferSelect"] & string]: SQL.Aliased<T["$inferSelect"][K]>;
};

/** A table's columns under their TypeScript names, so that rows come from D1 as they are used. */
export const columnsOf = <T extends SQLiteTable>(table: T): Columns<T> =>
  Object.fromEntries(
    Object.entries(getTableColumns(table)).map(([name, column]) => [name, sql`${column}`.as(name)]),
  ) as Columns<T>;

/** A placeholder for each of a table's columns, by their TypeScript names: the values of an insert. */
export const placeholdersOf = <T extends SQLiteTable>(table: T): T["$inferInsert"] =>
  Object.fromEntries(Object.keys(getTableColumns(table)).map((name) => [name, sql.placeholder(name)]));

/** A table of what organizations own: listed newest first, and searched by one folded column. */
type AccountTable = SQLiteTable & Readonly<Record<"accountId" | "id" | "createdAt", SQLiteColumn>>;

/** The statements that the stores of such tables have in common. `Row` is what the selected `fields` make up. */
export function accountRows(table: AccountTable, searchedColumn: SQLiteColumn) {
  const ofAccount = eq(table.accountId, sql.placeholder("accountId"));
  type Filter = "all" | "searched";
  const filterFor = ({ search }: Page): Filter => (search === "" ? "all" : "searched");
  const matching = (filter: Filter) =>
    and(
      ofAccount,
      filter === "all" ? undefined : sql`instr(${searchedColumn}, ${sql.placeholder("search")})`,
    );
  const counted = preparedByShape((filter: Filter) =>
    build
      .select({ total: count().as("total") })
      .from(table)
      .where(matching(filter)),
  );
  const byId = ({ accountId }: Tenant, id: string) => and(eq(table.accountId, accountId), eq(table.id, id));

  return {
    /** The condition of an update or deletion of one row. */
    byId,

    selectOne<Row>(fields: Record<string, SQL.Aliased>): (tenant: Tenant, id: string) => Statement<Row> {
      const condition = and(ofAccount, eq(table.id, sql.placeholder("id")));
      const one = prepared(() => build.select(fields).from(table).where(condition).limit(1));
      return ({ accountId }, id) => withoutType(one({ accountId, id }));
    },

    selectPage<Row>(fields: Record<string, SQL.Aliased>): (tenant: Tenant, page: Page) => Statement<Row> {
      const rows = preparedByShape((filter: Filter) =>
        build
          .select(fields)
          .from(table)
          .where(matching(filter))
          .orderBy(sql`${table.createdAt} DESC`, sql`${table.id} DESC`)
          .limit(sql.placeholder("limit"))
          .offset(sql.placeholder("offset")),
      );
      return ({ accountId }, page) => withoutType(rows(filterFor(page), { accountId, ...page }));
    },

    /** How many rows {@link selectPage} pages through. */
    count: ({ accountId }: Tenant, page: Page): Statement<{ total: number }> =>
      counted(filterFor(page), { accountId, ...page }),

    /** Returns the id if the row existed. */
    deleteOne: (tenant: Tenant, id: string): Statement<{ id: string }> =>
      withoutType(statement(build.delete(table).where(byId(tenant, id)).returning({ id: table.id }))),
  };
}

/** The statement without what drizzle infers of its rows: fields in a variable tell it nothing. */
const withoutType = ({ sql, params }: Statement): Omit<Statement<never>, "row"> => ({ sql, params });

/** The next version of a row: its time of change, later than the one before whatever the clock says. */
export const nextVersion = (updatedAt: SQLiteColumn, now: number): SQL => sql`max(${now}, ${updatedAt} + 1)`;

/**
 * What a failed statement violated: `unique:rooms.account_id, rooms.custom_id`, `foreign` (what it refers to
 * is not there), `required:memberships.role` (a value is missing), or null when it failed for another reason.
 */
export function violatedConstraint(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const unique = /UNIQUE constraint failed: (.+?)(?::|$)/.exec(error.message);
  if (unique !== null) return `unique:${unique[1]}`;
  const required = /NOT NULL constraint failed: (.+?)(?::|$)/.exec(error.message);
  if (required !== null) return `required:${required[1]}`;
  return error.message.includes("FOREIGN KEY constraint failed") ? "foreign" : null;
}

/** True when D1 says that a table is missing: the migrations have not been applied. */
export const lacksTables = (error: unknown): boolean =>
  error instanceof Error && error.message.includes("no such table");
