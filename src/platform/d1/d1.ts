/** The only file that runs SQL on D1. Stores return statements; commands and queries run them in one round trip. */

import { innermostCause } from "@atrium/contract/errors.ts";
import type { D1Database } from "@cloudflare/workers-types";
import { fillPlaceholders, getTableColumns, type SQL, sql } from "drizzle-orm";
import { SQLiteAsyncDialect, type SQLiteColumn, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { drizzle } from "drizzle-orm/sqlite-proxy";

/** A statement with its parameters. `row` never has a value; it carries the type of the rows. */
export interface Statement<Row = unknown> {
  readonly sql: string;
  readonly params: readonly unknown[];
  readonly row?: Row;
}

export type Results<T extends readonly Statement[]> = {
  -readonly [I in keyof T]: T[I] extends Statement<infer Row> ? Row[] : never;
};

export interface Database {
  run<const T extends readonly [Statement, ...Statement[]]>(statements: T): Promise<Results<T>>;
}

/** The organization that statements are for, and its database: the first argument of every store function. */
export interface Tenant {
  readonly accountId: string;
  readonly db: Database;
}

/** The direction also applies to IDs, which order equal items. */
export interface Order {
  readonly by: string;
  readonly descending: boolean;
}

export interface ListPosition {
  /** Times are epoch ms. */
  readonly key: number | string;
  readonly id: string;
  readonly sort?: string | undefined;
  /** The number of items before the page that follows, where it is known. */
  readonly offset?: number;
  /** The number of matching items at the read of the first page, where it is known. */
  readonly total?: number;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** Folded text that the searched column must contain; empty for no filter. */
  readonly search: string;
  /** Inclusive bounds of `created_at` in epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly order?: Order | undefined;
  readonly after?: ListPosition | undefined;
}

export const openDatabase = (d1: Pick<D1Database, "prepare" | "batch">): Database => ({
  async run(statements) {
    const bound = statements.map(({ sql, params }) => d1.prepare(sql).bind(...params));
    const results = await d1.batch(bound);
    // The type of a statement names its rows; only this cast relies on it.
    return results.map((result) => result.results) as Results<typeof statements>;
  },
});

/** The results of the statements behind the first `count`. */
export const withoutFirst = <T extends readonly Statement[]>(
  results: readonly unknown[],
  count: number,
): Results<T> => results.slice(count) as Results<T>;

/** The same database, whose batches begin with these statements. Their results are left out. */
export const behind = (db: Database, first: readonly [Statement, ...Statement[]]): Database => ({
  run: async <const T extends readonly [Statement, ...Statement[]]>(statements: T) =>
    withoutFirst<T>(await db.run([...first, ...statements]), first.length),
});

interface Query<Rows> {
  toSQL(): { readonly sql: string; readonly params: unknown[] };
  readonly _: { readonly result: Rows };
}

type RowOf<Rows> = Rows extends readonly (infer Row)[] ? Row : never;

const dialect = new SQLiteAsyncDialect();

/** Renders a template of SQL as drizzle's `sql` does: values become parameters, and `sql` in it stays SQL. */
export function statement<Row>(template: TemplateStringsArray, ...values: readonly unknown[]): Statement<Row>;
/** Renders what the builder has built. */
export function statement<Rows>(query: Query<Rows>): Statement<RowOf<Rows>>;
export function statement(
  from: TemplateStringsArray | Query<unknown>,
  ...values: readonly unknown[]
): Statement {
  if ("toSQL" in from) return from.toSQL();
  const { sql: text, params } = dialect.sqlToQuery(sql(from, ...values));
  return { sql: text, params };
}

/** Values as one parameter, however many they are: `id IN ${listed(ids)}`. */
export const listed = (values: readonly unknown[]): SQL =>
  sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`;

/** Organizations on their way to another database, which sweeps over all organizations leave out. */
export const FENCED = sql`(SELECT account_id FROM fences)`;

export const isNotFenced = (accountId: SQLiteColumn): SQL => sql`${accountId} NOT IN ${FENCED}`;

/** Succeeds whenever D1 responds, because it reads no table. */
export const PING = statement`SELECT 1`;

export const build = drizzle(() => {
  throw new Error("Statements are run by Database.run");
});

type Columns<T extends SQLiteTable> = {
  [K in keyof T["$inferSelect"] & string]: SQL.Aliased<T["$inferSelect"][K]>;
};

/** A table's columns under their TypeScript names, so that rows need no mapping. */
export const columnsOf = <T extends SQLiteTable>(table: T): Columns<T> =>
  Object.fromEntries(
    Object.entries(getTableColumns(table)).map(([name, column]) => [name, sql`${column}`.as(name)]),
  ) as Columns<T>;

/** A row as it is inserted: columns that are left out have their default, or null. */
export function rowOf<T extends SQLiteTable>(table: T, values: T["$inferInsert"]): T["$inferSelect"] {
  const given = new Map<string, unknown>(Object.entries(values));
  const columns = Object.entries(getTableColumns(table));
  return Object.fromEntries(
    columns.map(([name, column]) => [name, given.get(name) ?? column.default ?? null]),
  );
}

/** The next version of a row: the time of its update, and always later than its last version. */
export const nextVersion = (updatedAt: SQLiteColumn, now: number): SQL => sql`max(${now},
    ${updatedAt} + 1)`;

/** The violated constraint: `unique:rooms.custom_id`, `foreign`, `required:memberships.role`; null otherwise. */
export function violatedConstraint(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const unique = /UNIQUE constraint failed: (.+?)(?::|$)/.exec(error.message);
  if (unique !== null) return `unique:${unique[1]}`;
  const required = /NOT NULL constraint failed: (.+?)(?::|$)/.exec(error.message);
  if (required !== null) return `required:${required[1]}`;
  return error.message.includes("FOREIGN KEY constraint failed") ? "foreign" : null;
}

export function isFenced(error: unknown): boolean {
  const cause = innermostCause(error);
  return cause instanceof Error && cause.message.includes("organization_is_fenced");
}

export const lacksTables = (error: unknown): boolean =>
  error instanceof Error && error.message.includes("no such table");

/** Builds each shape once: building per request took a fifth of the CPU time. Values replace placeholders. */
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

export function prepared<Rows>(buildQuery: () => Query<Rows>): (values: object) => Statement<RowOf<Rows>> {
  const byShape = preparedByShape<"", Rows>(buildQuery);
  return (values) => byShape("", values);
}

/** The insertion of a row with all columns. */
export function insertionInto<T extends SQLiteTable>(table: T) {
  const insertion = prepared(() => build.insert(table).values(placeholdersOf(table)));
  return (_: Tenant, row: T["$inferSelect"]): Statement => insertion(row);
}

/** A placeholder for each column of a table, under its TypeScript name: the values of an insert. */
export const placeholdersOf = <T extends SQLiteTable>(table: T): T["$inferInsert"] =>
  Object.fromEntries(Object.keys(getTableColumns(table)).map((name) => [name, sql.placeholder(name)]));

/** Counts the round trips to a database. */
export class RoundTripCounter {
  #total = 0;

  get total(): number {
    return this.#total;
  }

  count(db: Database): Database {
    return {
      run: (statements) => {
        this.#total += 1;
        return db.run(statements);
      },
    };
  }
}
