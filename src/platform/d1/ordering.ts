/** Pages of long lists in one of several orders: an index finds where each one starts, so that the last one costs what the first one does. */
import { getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { ListPosition, Page, Statement } from "./d1.ts";

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

/** The parts of statements that select or count pages. */
export interface Ordering<Row> {
  shapeOf(page: Page): string;
  /** Selects the items between the dates that follow `page.after`. Values: {@link pageValues}. */
  where(shape: string): SQL;
  orderBy(shape: string): [SQL, SQL];
  readonly dated: SQL;
  positionOf(page: Page): (row: Row) => Pick<ListPosition, "key" | "id">;
}

const AFTER_KEY = sql.placeholder("afterKey");
const AFTER_ID = sql.placeholder("afterId");
const FROM = sql.placeholder("from");
const TO = sql.placeholder("to");

export function ordering<Table extends SQLiteTable>(
  orders: Orders<Table>,
): Ordering<Readonly<Record<OrderingColumn<Table>, unknown>>> {
  const columns = getTableColumns<SQLiteTable>(orders.table);
  const term = (name: OrderingColumn<Table>): SQL => {
    if (orders.ignoringCase?.includes(name) === true) return sql`${columns[name]} COLLATE NOCASE`;
    return columns[name]?.notNull === false ? sql`coalesce(${columns[name]}, 0)` : sql`${columns[name]}`;
  };
  const time = term(orders.time);
  const id = term(orders.id);
  const columnOf = ({ order }: Page) => (order && orders.by[order.by]) ?? orders.time;
  const parse = (shape: string) => {
    const [name = "", direction, place] = shape.split(" ");
    const column = Object.values(orders.by).find((each) => each === name) ?? orders.time;
    return { key: term(column), isTime: column === orders.time, isUp: direction === "up", place };
  };

  return {
    shapeOf: (page) =>
      `${columnOf(page)} ${page.order?.descending === false ? "up" : "down"} ${page.after ? "after" : "first"}`,

    where(shape) {
      const { key, isTime, isUp, place } = parse(shape);
      const dated = isTime
        ? sql`(${time} BETWEEN ${FROM} AND ${TO}`
        : sql`(+${time} BETWEEN ${FROM} AND ${TO}`;
      if (place === "first") return sql`${dated})`;
      // SQLite seeks to the key alone, and compares the pair for the items that are equal in it.
      const isBehind = isUp
        ? sql`(${key}, ${id}) > (${AFTER_KEY}, ${AFTER_ID})`
        : sql`(${key}, ${id}) < (${AFTER_KEY}, ${AFTER_ID})`;
      if (!isTime) return sql`${dated} AND ${key} ${isUp ? sql`>=` : sql`<=`} ${AFTER_KEY} AND ${isBehind})`;
      return isUp
        ? sql`(${time} BETWEEN max(${FROM}, ${AFTER_KEY}) AND ${TO} AND ${isBehind})`
        : sql`(${time} BETWEEN ${FROM} AND min(${TO}, ${AFTER_KEY}) AND ${isBehind})`;
    },

    orderBy(shape) {
      const { key, isUp } = parse(shape);
      return isUp ? [sql`${key} ASC`, sql`${id} ASC`] : [sql`${key} DESC`, sql`${id} DESC`];
    },

    dated: sql`(${time} BETWEEN ${FROM} AND ${TO})`,

    positionOf: (page) => (row) => ({ key: keyOf(row[columnOf(page)]), id: String(row[orders.id]) }),
  };
}

const keyOf = (value: unknown): number | string =>
  typeof value === "number" ? value : value === null ? 0 : String(value);

/** The values of the placeholders of an {@link Ordering}, and of `limit`, `offset` and `search`. */
export const pageValues = ({ limit, offset, search, from, to, after }: Page) => ({
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

/** Counts for the first page; those that follow it show the same total, which their position holds. */
export const countOnce = ({ after }: Page, count: () => Total): Total =>
  after?.total === undefined ? count() : { sql: "SELECT ? AS total", params: [after.total] };
