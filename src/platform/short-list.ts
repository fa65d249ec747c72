/** The order of lists that are short: they are sorted as they are read, so that no order needs an index. */
import { type SQL, sql } from "drizzle-orm";
import type { Page } from "./d1.ts";

/** What a list can be ordered by, by the names of its fields. */
type Keys = Readonly<Record<string, SQL>>;

/** The order of a page: by a key and then by the ID, newest first unless the page says otherwise. */
export function shortListOrder(keys: Keys & { readonly newest: SQL; readonly id: SQL }) {
  return ({ order }: Page): [SQL, SQL] => {
    const key = (order && keys[order.by]) ?? keys.newest;
    return order?.descending === false
      ? [sql`${key} ASC`, sql`${keys.id} ASC`]
      : [sql`${key} DESC`, sql`${keys.id} DESC`];
  };
}
