/** `npm run backup -- --sql` and scheduled copies: each table of the schema, imported by wrangler into an empty database, searches included. */
import { globSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fold } from "@atrium/contract/text.ts";
import { DAY_MS } from "@atrium/contract/time.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { databasePort } from "../../../src/cli/database.ts";
import { openBucket } from "../../../src/features/copies/bucket.ts";
import { continueCopies } from "../../../src/features/copies/copying.ts";
import { continueIndexes } from "../../../src/features/search/index-builder.ts";
import { findHits } from "../../../src/features/search/queries.ts";
import { newCallBudget } from "../../../src/platform/flow/work-budget.ts";
import { BUCKET_KEY } from "../../support/bucket.ts";
import { startReceiver } from "../../support/receiver.ts";
import { type Checkout, copyCheckout } from "./checkout.ts";
import { run, runCli } from "./processes.ts";

const NEVER = new AbortController().signal;
const WRANGLER = "node_modules/wrangler/bin/wrangler.js";
/** Texts that an export may damage: line breaks beside the characters of their escapes, quotes, and more than a statement takes. */
const CODES = [
  "first\nreturn lines.join(\"\\n\") + '\\r'\r\n",
  "it's \u2028 \u{1F600}, ',char(10)) and replace('?'",
  `${"const long = '\\n';\n// 👩‍👩‍👧 ż\n".repeat(8_000)}`,
];

let directory: string;
let source: Checkout;
let accountId: string;
const checkouts: Checkout[] = [];
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "atrium-sql-"));
  source = await copyCheckout();
  checkouts.push(source);
  const created = await runCli("account.ts", ["create", "Acme", "--json"], source.root);
  expect([created.exitCode, created.stderr]).toEqual([0, ""]);
  ({ accountId } = JSON.parse(created.stdout) as { accountId: string });
  open(source, (database) => furnish(database, accountId));
  await continueIndexes(portOf(source), "", console.error);
  expect(await search(source, accountId, "whale")).toEqual(["Blue whale", "Gray whale"]);
  open(source, fillTables);
});
afterAll(async () => {
  await Promise.all(checkouts.map((checkout) => checkout.remove()));
  await rm(directory, { recursive: true, force: true });
});

const persistTo = (checkout: Checkout): string => checkout.at(".wrangler/state");
const portOf = (checkout: Checkout) => databasePort({ kind: "local", persistTo: persistTo(checkout) }, NEVER);

/** Reads or changes the file of the checkout's database. */
function open<Result>(checkout: Checkout, use: (database: DatabaseSync) => Result): Result {
  const folder = path.join(persistTo(checkout), "v3/d1/miniflare-D1DatabaseObject");
  const [file = ""] = globSync("*.sqlite", { cwd: folder }).filter((name) => name !== "metadata.sqlite");
  const database = new DatabaseSync(path.join(folder, file));
  try {
    return use(database);
  } finally {
    database.close();
  }
}

type Row = Readonly<Record<string, unknown>>;

/** The statements of the schema, without those of tables that FTS5 keeps for itself. */
const schemaOf = (database: DatabaseSync): Row[] =>
  database
    .prepare(
      `SELECT o.type, o.name, o.sql FROM sqlite_schema AS o LEFT JOIN pragma_table_list AS l ON l.name = o.name
       WHERE o.sql IS NOT NULL AND o.name NOT LIKE '\\_cf\\_%' ESCAPE '\\' AND coalesce(l.type, '') <> 'shadow'
         AND o.name <> 'sqlite_sequence' ORDER BY o.type, o.name`,
    )
    .all();

const tablesOf = (database: DatabaseSync): string[] =>
  schemaOf(database)
    .filter(({ type, sql }) => type === "table" && !String(sql).startsWith("CREATE VIRTUAL"))
    .map(({ name }) => String(name));

const contentOf = (database: DatabaseSync): Record<string, readonly Row[]> =>
  Object.fromEntries(
    tablesOf(database).map((table) => {
      const rows = database.prepare(`SELECT * FROM "${table}"`).all();
      return [table, rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))];
    }),
  );

/** Gives each table a row, with the same values everywhere: so it refers to rows that exist. A fence would refuse others. */
function fillTables(database: DatabaseSync): void {
  database.exec("PRAGMA foreign_keys = OFF");
  for (const table of tablesOf(database).toSorted(
    (a, b) => Number(a === "fences") - Number(b === "fences"),
  )) {
    const columns = database.prepare("SELECT name, type FROM pragma_table_info(?)").all(table);
    const names = columns.map(({ name }) => `"${name}"`);
    database
      .prepare(`INSERT OR IGNORE INTO "${table}" (${names}) VALUES (${names.map(() => "?")})`)
      .run(...columns.map(({ type }) => (String(type).toLowerCase() === "integer" ? 7 : "x")));
  }
}

function furnish(database: DatabaseSync, accountId: string): void {
  database.exec("PRAGMA foreign_keys = OFF");
  const room = database.prepare(
    "INSERT INTO rooms (account_id, id, name, name_folded, state, created_at) VALUES (?, ?, ?, ?, 'active', 1)",
  );
  for (const name of ["Blue whale", "Gray whale", "Otter"]) room.run(accountId, name, name, fold(name));
  database
    .prepare("INSERT INTO search_lists (account_id, room_id, state) VALUES (?, '', 'building')")
    .run(accountId);
  const code = database.prepare(
    "INSERT INTO workflow_versions (account_id, workflow_id, version, saved_at, code) VALUES (?, 'x', ?, 1, ?)",
  );
  for (const [version, text] of CODES.entries()) code.run("x", version, text);
}

/** The IDs of the rooms that the index finds; null where it is incomplete, and the list itself is read. */
async function search(checkout: Checkout, accountId: string, text: string): Promise<unknown> {
  const term = { text: fold(text), withIds: false };
  const ids = (await findHits(portOf(checkout), { accountId, of: "rooms" }, term))?.ids ?? null;
  return ids === null ? null : JSON.parse(ids).sort();
}

/** Imports a file by wrangler into an empty database, and compares it with the source. */
async function expectImport(file: string): Promise<void> {
  const target = await copyCheckout();
  checkouts.push(target);
  for (const statement of (await readFile(file, "utf8")).split(";\n"))
    expect(Buffer.byteLength(statement)).toBeLessThan(100_000); // D1 refuses longer ones
  const imported = await run(
    process.execPath,
    [
      WRANGLER,
      ..."d1 execute DB --local --persist-to .wrangler/state --config wrangler.toml --yes --file".split(" "),
      file,
    ],
    { cwd: target.root },
  );
  expect([imported.exitCode, imported.exitCode === 0 ? "" : imported.stdout + imported.stderr]).toEqual([
    0,
    "",
  ]);
  expect(open(target, schemaOf)).toEqual(open(source, schemaOf));
  const [before, after] = [open(source, contentOf), open(target, contentOf)];
  for (const [table, rows] of Object.entries(before)) {
    expect([table, rows.length > 0]).toEqual([table, true]);
    if (!/^(search_|copies$|data_locations$)/.test(table))
      expect([table, after[table]]).toEqual([table, rows]);
  }
  expect([after.copies, after.data_locations]).toEqual([[], []]);

  expect(await search(target, accountId, "whale")).toBeNull();
  await continueIndexes(portOf(target), "", console.error);
  expect(await search(target, accountId, "whale")).toEqual(["Blue whale", "Gray whale"]);
}

it("exports and imports each table of the schema, and the cron trigger builds the index of searches again", async () => {
  const folder = path.join(directory, "copy");
  const other = await copyCheckout(); // whose own state folder is empty
  checkouts.push(other);
  const exported = await runCli(
    "backup.ts",
    [folder, "--sql", "--persist-to", persistTo(source)],
    other.root,
  );
  expect([exported.exitCode, exported.stderr]).toEqual([0, ""]);
  const file = path.join(folder, "DB.sql");
  expect((await stat(file)).mode & 0o077).toBe(0);
  await expectImport(file);
});

it("imports the parts of a scheduled copy in the same way", async () => {
  const receiver = await startReceiver();
  try {
    const url = `http://127.0.0.1:${receiver.port}/s3/copies`;
    const ports = {
      directory: portOf(source),
      databases: new Map([["DB", portOf(source)]]),
      openBucket: () => openBucket({ url, region: undefined, ...BUCKET_KEY }),
      keptMs: DAY_MS,
      log: console.error,
    };
    const sizes = { alone: 500_000, beside: 20_000 };
    const copied = async () => {
      const content = await fetch(`http://127.0.0.1:${receiver.port}/s3-content/copies`);
      return (await content.json()) as [string, string][];
    };
    let objects: [string, string][] = [];
    // On a busy machine, a run ends before the copy does.
    while (objects.at(-1)?.[0] !== "2026-01-31T00-00-00Z/manifest.json") {
      await continueCopies(ports, Date.parse("2026-01-31T00:00:00Z"), newCallBudget("paid"), sizes);
      objects = await copied();
    }
    expect(objects.length).toBeGreaterThan(2);
    for (const [name, base64] of objects) {
      const file = path.join(directory, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, Buffer.from(base64, "base64"));
    }
    const command = "cat 2026-01-31T00-00-00Z/DB/*.sql.gz | gunzip > DB.sql"; // as in the guide on backups
    expect((await run("sh", ["-c", command], { cwd: directory })).exitCode).toBe(0);
    await expectImport(path.join(directory, "DB.sql"));
  } finally {
    await receiver.stop();
  }
});

it("refuses flags that contradict each other, and a folder that exists", async () => {
  for (const args of [
    [directory, "--remote"],
    [directory, "--sql", "--remote", "--persist-to", "state"],
    ["--sql"],
  ])
    expect((await runCli("backup.ts", args, source.root)).exitCode).toBe(2);
  const { exitCode, stderr } = await runCli("backup.ts", [directory, "--sql", "--remote"], source.root);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("exists already")]);
});
