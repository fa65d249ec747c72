/** `npm run account -- move` in a checkout with two databases, and what the audit log has of it. */
import { globSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, it } from "vitest";
import { copyCheckout } from "./checkout.ts";
import { runCli } from "./processes.ts";

const SECOND = `
[[d1_databases]]
binding = "DB_2"
database_name = "atrium-2"
preview_database_id = "atrium-2-local"
migrations_dir = "migrations"
`;

const checkout = await copyCheckout();
await appendFile(checkout.at("wrangler.toml"), SECOND);

afterAll(() => checkout.remove());

const run = async (...args: string[]): Promise<unknown> => {
  const { exitCode, stdout, stderr } = await runCli("account.ts", [...args, "--json"], checkout.root);
  expect([args, exitCode, exitCode === 0 ? "" : stderr]).toEqual([args, 0, ""]);
  return JSON.parse(stdout);
};

/** The organization's audit entries in both databases, oldest first, and where each is. */
const entriesOf = (accountId: string): unknown[] =>
  globSync(checkout.at(".wrangler/state/v3/d1/miniflare-D1DatabaseObject/*.sqlite"))
    .filter((file) => !file.endsWith("metadata.sqlite"))
    .flatMap((file) => {
      const database = new DatabaseSync(file);
      try {
        const sql = `SELECT operation, changes, actor_type AS actor, in_directory AS inDirectory FROM audit_entries
          WHERE account_id = ? ORDER BY rowid`;
        return database.prepare(sql).all(accountId);
      } finally {
        database.close();
      }
    });

it("a move that begins, and one that is cancelled, is in the audit log once, however often it is asked for", async () => {
  const { accountId } = (await run("create", "Acme", "--in", "DB")) as { accountId: string };
  const before = entriesOf(accountId);
  const move = (to: string) => run("move", accountId, "--to", to);
  for (const to of ["DB_2", "DB_2"]) expect(await move(to)).toEqual({ database: "DB", phase: "copying" });
  for (const to of ["DB", "DB"]) expect(await move(to)).toEqual({ database: "DB", phase: "cancelled" });
  const entry = (operation: string, to: string) => ({
    ...{ operation, changes: JSON.stringify({ to }), actor: "operator", inDirectory: 1 },
  });
  expect(entriesOf(accountId).slice(before.length)).toEqual([
    entry("moveOrganization", "DB_2"),
    entry("cancelMove", "DB"),
  ]);
});
