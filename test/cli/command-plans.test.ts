/** The statements of the commands find their rows by an index, as those of the service do. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { readsTooMuch } from "../support/query-plans.ts";

const ROOT = path.join(import.meta.dirname, "../..");

/** The expressions in templates that are SQL; all others are values. */
const FRAGMENTS: Readonly<Record<string, string>> = {
  person: "FROM people WHERE email = 'x'",
  ofAccount: "account_id = 'x'",
  key: "1, 2, 3, 4, 5, 6",
  'ifChanged ? " AND changes() > 0" : ""': " AND changes() > 0",
};

/** While a service has no member, the first `npm start` looks for the oldest of its organizations. */
const FIRST_OWNER =
  "SELECT id FROM accounts WHERE deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM memberships)";

const STATEMENT = /(["`])((?:SELECT|INSERT INTO|UPDATE|DELETE FROM) (?:(?!\1)[^\\])+)\1/g;

const statements = globSync("src/cli/**/*.ts", { cwd: ROOT })
  .filter((file) => !file.endsWith("/migrations.ts")) // what wrangler has applied, in a table of its own
  .flatMap((file) => [...readFileSync(path.join(ROOT, file), "utf8").matchAll(STATEMENT)])
  .map(([, , sql = ""]) =>
    sql.replaceAll(/\$\{((?:[^{}]|\{[^{}]*\})*)\}/g, (_, name) => FRAGMENTS[name] ?? "1"),
  );

it("reads no whole table", () => {
  const db = new DatabaseSync(":memory:");
  for (const file of globSync("migrations/*.sql", { cwd: ROOT }).sort())
    db.exec(readFileSync(path.join(ROOT, file), "utf8"));
  expect(statements.length).toBeGreaterThan(15);
  const scans = statements
    .filter((sql) => !sql.startsWith(FIRST_OWNER) && sql !== "SELECT 1 AS found FROM memberships LIMIT 1")
    .flatMap((sql) =>
      db
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => String(detail))
        .filter((detail) => readsTooMuch(detail, sql))
        .map((detail) => `${detail} in ${sql}`),
    );
  expect(scans).toEqual([]);
});
