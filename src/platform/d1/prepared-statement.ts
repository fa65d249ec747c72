/** Statements whose SQL is built once, at its first use. */
import { fillPlaceholders, getTableColumns, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Query, RowOf, Statement } from "./d1.ts";

/**
 * A statement of a few shapes, each built at its first use: building statements and mapping rows by drizzle on every
 * request took a fifth of the CPU time. Values replace `sql.placeholder`s by name.
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

/** The same for a page of a list: its shape has a filter, and what {@link Page.order} and `after` make of it. */
export function preparedByOrder<Filter extends string, Rows>(
  buildShape: (filter: Filter, ordered: string) => Query<Rows>,
): (filter: Filter, ordered: string, values: object) => Statement<RowOf<Rows>> {
  const byFilter = new Map<Filter, (ordered: string, values: object) => Statement<RowOf<Rows>>>();
  return (filter, ordered, values) => {
    const known = byFilter.get(filter) ?? preparedByShape((shape: string) => buildShape(filter, shape));
    byFilter.set(filter, known);
    return known(ordered, values);
  };
}

/** A statement of one shape, built at its first use. */
export function prepared<Rows>(buildQuery: () => Query<Rows>): (values: object) => Statement<RowOf<Rows>> {
  const byShape = preparedByShape<"", Rows>(buildQuery);
  return (values) => byShape("", values);
}

/** A placeholder for each column of a table, under its TypeScript name: the values of an insert. */
export const placeholdersOf = <T extends SQLiteTable>(table: T): T["$inferInsert"] =>
  Object.fromEntries(Object.keys(getTableColumns(table)).map((name) => [name, sql.placeholder(name)]));
