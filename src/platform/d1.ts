/** The one place that runs SQL on D1: stores describe statements, commands and queries run them in one round trip. */
import { fillPlaceholders, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
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
