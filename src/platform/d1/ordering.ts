/** Keyset pagination of sorted lists: the last page costs as much as the first one. */
import { count, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { build, type ListPosition, type Page, preparedByShape, type Statement, statement } from "./d1.ts";

type OrderingColumn<Table extends SQLiteTable> = {
  [Name in keyof Table["$inferSelect"]]: Table["$inferSelect"][Name] extends string
    ? Name
    : Table["$inferSelect"][Name] extends number | null
      ? Name
      : never;
}[keyof Table["$inferSelect"]] &
  string;

/** Each column has an index that ends with the ID. */
interface Orders<Table extends SQLiteTable> {
  readonly table: Table;
  readonly by: Readonly<Record<string, OrderingColumn<Table>>>;
  /** The column that `from` and `to` filter; lists are newest first by it unless a page says otherwise. */
  readonly time: OrderingColumn<Table>;
  readonly id: OrderingColumn<Table>;
  /** The columns that are compared without the case of ASCII letters. */
  readonly ignoringCase?: readonly OrderingColumn<Table>[];
}

const AFTER_KEY = sql.placeholder("afterKey");
const AFTER_ID = sql.placeholder("afterId");
const FROM = sql.placeholder("from");
const TO = sql.placeholder("to");

/** The statements that select and count the pages of a list, and the position of a row in it. */
export function ordering<Table extends SQLiteTable>(orders: Orders<Table>) {
  const { table }: { readonly table: SQLiteTable } = orders;
  const columns = getTableColumns(table);
  const term = (name: OrderingColumn<Table>): SQL => {
    if (orders.ignoringCase?.includes(name) === true) return sql`${columns[name]} COLLATE NOCASE`;
    return columns[name]?.notNull === false ? sql`coalesce(${columns[name]}, 0)` : sql`${columns[name]}`;
  };
  const time = term(orders.time);
  const id = term(orders.id);
  const columnOf = ({ order }: Page) => (order && orders.by[order.by]) ?? orders.time;
  const shapeOf = (page: Page) =>
    `${columnOf(page)} ${page.order?.descending === false ? "up" : "down"} ${page.after ? "after" : "first"}`;

  const parse = (shape: string) => {
    const [name = "", direction, place] = shape.split(" ");
    const column = Object.values(orders.by).find((each) => each === name) ?? orders.time;
    return { key: term(column), isTime: column === orders.time, isUp: direction === "up", place };
  };

  /** Selects the items between the dates that follow `page.after`. */
  function placed(shape: string): SQL {
    const { key, isTime, isUp, place } = parse(shape);
    const dated = isTime ? sql`(${time} BETWEEN ${FROM} AND ${TO}` : sql`(+${time} BETWEEN ${FROM} AND ${TO}`;
    if (place === "first") return sql`${dated})`;
    // SQLite seeks to the key alone, and compares the pair for the items that are equal in it.
    const isBehind = isUp
      ? sql`(${key}, ${id}) > (${AFTER_KEY}, ${AFTER_ID})`
      : sql`(${key}, ${id}) < (${AFTER_KEY}, ${AFTER_ID})`;
    if (!isTime) return sql`${dated} AND ${key} ${isUp ? sql`>=` : sql`<=`} ${AFTER_KEY} AND ${isBehind})`;
    return isUp
      ? sql`(${time} BETWEEN max(${FROM}, ${AFTER_KEY}) AND ${TO} AND ${isBehind})`
      : sql`(${time} BETWEEN ${FROM} AND min(${TO}, ${AFTER_KEY}) AND ${isBehind})`;
  }

  function orderBy(shape: string): [SQL, SQL] {
    const { key, isUp } = parse(shape);
    return isUp ? [sql`${key} ASC`, sql`${id} ASC`] : [sql`${key} DESC`, sql`${id} DESC`];
  }

  return {
    /** Selects a page. `matching` is the list's own condition for a filter, with `placed` in it. */
    pages<Filter extends string, Fields extends Record<string, SQL.Aliased>>(
      fields: Fields,
      matching: Matching<Filter>,
    ): (filter: Filter, page: Page, values: object) => Statement<SelectedRow<Fields>> {
      const page = preparedByShape((shape: string) => {
        const [filter, ordered = ""] = shape.split("|");
        return build
          .select<Record<string, SQL.Aliased>>(fields)
          .from(table)
          .where(matching(filter as Filter, placed(ordered)))
          .orderBy(...orderBy(ordered))
          .limit(sql.placeholder("limit"))
          .offset(sql.placeholder("offset"));
      });
      return (filter, of, values) => {
        const { sql, params } = page(`${filter}|${shapeOf(of)}`, { ...values, ...pageValues(of) });
        return { sql, params };
      };
    },

    /** Counts the items on all pages, by the same condition. */
    counts<Filter extends string>(
      matching: Matching<Filter>,
    ): (filter: Filter, page: Page, values: object) => Total {
      const counted = preparedByShape((filter: Filter) =>
        build
          .select({ total: count().as("total") })
          .from(table)
          .where(matching(filter, sql`(${time} BETWEEN ${FROM} AND ${TO})`)),
      );
      return (filter, page, values) => counted(filter, { ...values, ...pageValues(page) });
    },

    positionOf:
      (page: Page) =>
      (row: Readonly<Record<OrderingColumn<Table>, unknown>>): Pick<ListPosition, "key" | "id"> => ({
        key: keyOf(row[columnOf(page)]),
        id: String(row[orders.id]),
      }),
  };
}

type Matching<Filter extends string> = (filter: Filter, placed: SQL) => SQL | undefined;

type SelectedRow<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends SQL.Aliased<infer Value> ? Value : never;
};

const keyOf = (value: unknown): number | string =>
  typeof value === "number" ? value : value === null ? 0 : String(value);

const pageValues = ({ limit, offset, search, from, to, after }: Page) => ({
  limit,
  offset,
  search,
  from,
  to,
  afterKey: after?.key,
  afterId: after?.id,
});

/** Whether a page leaves out nothing by its dates. */
export const isUndated = ({ from, to }: Page): boolean => from <= 0 && to >= Number.MAX_SAFE_INTEGER;

export const isUnfiltered = (page: Page): boolean => page.search === "" && isUndated(page);

type Total = Statement<{ total: number }>;

/** The number of `all` items without these others. */
export const countWithout = (all: Total, others: Total): Total => ({
  sql: `SELECT (${all.sql}) - (${others.sql}) AS total`,
  params: [...all.params, ...others.params],
});

/** Counts for the first page; later pages show the same total, which their position holds. */
export const countOnce = ({ after }: Page, total: () => Total): Total =>
  after?.total === undefined ? total() : statement`SELECT ${after.total} AS total`;
