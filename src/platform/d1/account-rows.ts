/** The statements that the stores of an organization's things share: one by its id, a page of them, and how many there are. */
import { and, count, eq, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { build, type Page, prepared, preparedByShape, type Statement, statement, type Tenant } from "./d1.ts";
import type { ordering } from "./ordering.ts";

type AccountTable = SQLiteTable & Readonly<Record<"accountId" | "id", SQLiteColumn>>;

/** The statements that the stores of such tables share. `Row` is the type that the selected `fields` form. */
export function accountRows(
  table: AccountTable,
  searchedColumn: SQLiteColumn,
  order: Pick<ReturnType<typeof ordering>, "pages">,
) {
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
    /** The condition for updating or deleting one row. */
    byId,

    selectOne<Row>(fields: Record<string, SQL.Aliased>): (tenant: Tenant, id: string) => Statement<Row> {
      const condition = and(ofAccount, eq(table.id, sql.placeholder("id")));
      const one = prepared(() => build.select(fields).from(table).where(condition).limit(1));
      return ({ accountId }, id) => withoutType(one({ accountId, id }));
    },

    selectPage<Row>(fields: Record<string, SQL.Aliased>): (tenant: Tenant, page: Page) => Statement<Row> {
      const pages = order.pages(fields, matching);
      return ({ accountId }, page) => withoutType(pages(filterFor(page), page, { accountId }));
    },

    count: ({ accountId }: Tenant, page: Page): Statement<{ total: number }> =>
      counted(filterFor(page), { accountId, ...page }),

    /** Changes one row, and returns its `fields`. */
    updateOne<Row, Stored>(fields: Record<string, SQL.Aliased>) {
      type Changes = { readonly [Name in keyof Stored]?: Stored[Name] | SQL };
      return (tenant: Tenant, id: string, changes: Changes): Statement<Row> =>
        withoutType(statement(build.update(table).set(changes).where(byId(tenant, id)).returning(fields)));
    },

    /** Returns the id if the row existed. */
    deleteOne: (tenant: Tenant, id: string): Statement<{ id: string }> =>
      withoutType(statement(build.delete(table).where(byId(tenant, id)).returning({ id: table.id }))),
  };
}

const withoutType = ({ sql, params }: Statement): Omit<Statement<never>, "row"> => ({ sql, params });
