/** The list of the tables that belong to organizations: complete, and true to the tables. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { ORGANIZATION_TABLES } from "../../src/features/organizations/tables.ts";

/** People and their access, which is not bound to one organization's database; and the organization itself. */
const DIRECTORY = [
  ...["accounts", "api_keys", "people", "credentials", "sessions", "memberships", "invitations"],
  ...["password_links", "mails"],
];
/** For moving organizations (docs/decisions/0027), and for backing them up (0034). */
const OF_MOVES = ["fences", "moves", "operator_tokens", "restores"];
/** Triggers make their rows; those of searches include what FTS5 keeps. */
const DERIVED = /^(quotas|search_\w+)$/;
const OF_THE_PLATFORM = /^(sqlite_|_cf_|d1_migrations$)/;

describe("the tables of organizations", () => {
  it("are all that are neither of the directory nor derived", async () => {
    const { results } = await env.DB.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const names = results
      .map(({ name }) => String(name))
      .filter((name) => !OF_THE_PLATFORM.test(name) && !DERIVED.test(name));
    const listed = new Set([...ORGANIZATION_TABLES.map(({ name }) => name), ...DIRECTORY, ...OF_MOVES]);
    expect(names.toSorted()).toEqual([...listed].toSorted());
  });

  it.each(ORGANIZATION_TABLES.map((table) => [table.name, table.where, table] as const))(
    "are listed with their key, in an order by columns that they have: %s where %s",
    async (name, _, { primaryKey, order }) => {
      const columns = await env.DB.prepare("SELECT name, pk FROM pragma_table_info(?)").bind(name).all();
      const named = columns.results.map((column) => String(column.name));
      expect(columns.results.filter(({ pk }) => pk !== 0).map((column) => column.name)).toEqual(primaryKey);
      expect(named).toEqual(expect.arrayContaining(order.map(({ column }) => column)));
    },
  );
});
