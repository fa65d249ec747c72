/** Scheduled copies of the databases: in steps, in spite of failures and changes, and imported again. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { DAY_MS } from "@atrium/contract/time.ts";
import { beforeEach, describe, expect, inject, it } from "vitest";
import { healthWarnings } from "../../src/composition.ts";
import { openBucket } from "../../src/features/copies/bucket.ts";
import { type CopyPorts, continueCopies } from "../../src/features/copies/copying.ts";
import { base64ToBytes } from "../../src/platform/crypto/encoding.ts";
import { openDatabase } from "../../src/platform/d1/d1.ts";
import { newCallBudget } from "../../src/platform/flow/work-budget.ts";
import { logError } from "../../src/platform/log.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { expectLogged } from "../support/log-guard.ts";

const RECEIVER = `http://127.0.0.1:${inject("receiver").port}`;
const KEY = { accessKeyId: "key-of-the-bucket", secretAccessKey: "secret/of+the/bucket" };
const NOW = Date.parse("2026-01-31T00:00:30.000Z");
const MINUTE_MS = 60_000;
/** So few characters that the tables here have several pages. */
const SMALL = { alone: 2_000, beside: 500 };
const CODES = ["first\nreturn '\\n';\r\n", `${"const long = '\\n';\n// 👩‍👩‍👧 ż\n".repeat(3_000)}`];

type Row = Readonly<Record<string, unknown>>;

const rowsIn = async (sql: string): Promise<Row[]> => (await env.DB_3.prepare(sql).all<Row>()).results;

/** An organization with rooms, users and a workflow in the database that the tests copy. */
async function furnish(accountId: string): Promise<void> {
  const run = (sql: string, ...values: unknown[]) => env.DB_3.prepare(sql).bind(...values);
  const addRoom =
    "INSERT INTO rooms (account_id, id, name, name_folded, custom_id, state, created_at) VALUES (?, ?, ?, ?, ?, 'active', 1)";
  const addUser =
    "INSERT INTO users (id, account_id, room_id, name, name_folded, role, created_at) VALUES (?, ?, ?, ?, ?, 'editor', 1)";
  await env.DB_3.batch([
    run("INSERT INTO accounts (id, name, created_at) VALUES (?, 'Acme', 1)", accountId),
    ...Array.from({ length: 40 }, (_, n) => run(addRoom, accountId, `r${n}`, "It's", "it's", `c${n}`)),
    ...Array.from({ length: 90 }, (_, n) =>
      run(addUser, `${accountId}-${n}`, accountId, `r${n % 40}`, 'Zoë; "x"', "zoë"),
    ),
    run(
      `INSERT INTO workflows (account_id, id, events, enabled, created_at, updated_at, hash, origin, name, name_folded, code, module)
       VALUES (?, 'w', '[]', 1, 1, 1, 'x', 'x', 'x', 'x', ?, ?)`,
      ...[accountId, ...CODES],
    ),
  ]);
}

let account: string;
let bucket: string;
beforeEach(async () => {
  account = crypto.randomUUID();
  bucket = crypto.randomUUID();
  await env.DB.prepare("DELETE FROM copies").run();
  for (const table of ["accounts", "rooms", "users", "quotas"]) await env.DB_3.exec(`DELETE FROM ${table}`);
  await furnish(account);
});

const settings = () => ({ url: `${RECEIVER}/s3/${bucket}/nightly`, region: undefined, ...KEY });

const ports = (changes: Partial<CopyPorts> = {}): CopyPorts => ({
  directory: openDatabase(env.DB),
  databases: new Map([["DB_3", openDatabase(env.DB_3)]]),
  openBucket: () => openBucket(settings()),
  keptMs: 14 * DAY_MS,
  log: (message, error) => logError(message, {}, error),
  ...changes,
});

/** A run of three steps. */
const runBriefly = (now: number, changes?: Partial<CopyPorts>): Promise<void> =>
  continueCopies(ports(changes), now, newCallBudget("free", 8), SMALL);

const copiesIn = async () =>
  (await env.DB.prepare("SELECT started_at, state, problem FROM copies ORDER BY started_at").all<Row>())
    .results;

/** The bucket's objects by their names, in the order of their writes. */
async function content(): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
  const response = await fetch(`${RECEIVER}/s3-content/${bucket}`);
  const objects = (await response.json()) as [string, string][];
  return new Map(objects.map(([name, base64]) => [name, base64ToBytes(base64)]));
}

async function finish(from: number, changes?: Partial<CopyPorts>): Promise<number> {
  for (let now = from; ; now += MINUTE_MS) {
    await runBriefly(now, changes);
    if ((await copiesIn()).at(-1)?.state === "complete") return now;
  }
}

const unzip = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  new Response(
    new Blob([new Uint8Array(bytes)]).stream().pipeThrough(new DecompressionStream("gzip")),
  ).text();

/** Imports a copy into an empty SQLite, and returns what `read` reads there. */
async function imported<Result>(folder: string, read: (sql: SqlStorage) => Result): Promise<Result> {
  const parts = [...(await content())].filter(([name]) => name.startsWith(`nightly/${folder}/DB_3/`));
  const texts = await Promise.all(parts.toSorted().map(([, bytes]) => unzip(bytes)));
  const stub = env.REQUEST_RATES.getByName(crypto.randomUUID());
  return runInDurableObject(stub, (_, { storage }) =>
    storage.transactionSync(() => {
      // Texts have no line breaks, and statements in triggers are indented.
      for (const sql of texts.join("").split(/;\n(?! {2}|END)/)) if (sql !== "") storage.sql.exec(sql);
      return read(storage.sql);
    }),
  );
}

const tablesIn = async (): Promise<string[]> =>
  (await rowsIn("PRAGMA table_list"))
    .filter(({ type, name }) => type === "table" && !/^(sqlite_|_cf_|search_|copies$)/.test(String(name)))
    .map(({ name }) => String(name));

const sorted = (rows: readonly Row[]): string[] => rows.map((row) => JSON.stringify(row)).toSorted();

describe("a scheduled copy", () => {
  it("goes on in later runs, after answers that were lost, and imports to equal rows, indexes and triggers", async () => {
    await runBriefly(NOW);
    const before = (await content()).size;
    expect(before).toBeGreaterThan(1);
    await fetch(`${RECEIVER}/s3-lose/${bucket}`);
    await runBriefly(NOW + MINUTE_MS);
    expectLogged("could not be copied");
    const end = await finish(NOW + 2 * MINUTE_MS);
    expect(end).toBeGreaterThan(NOW + 3 * MINUTE_MS);

    const objects = [...(await content())];
    const [last, manifest = new Uint8Array()] = objects.at(-1) ?? [];
    expect(last).toBe("nightly/2026-01-31T00-00-30Z/manifest.json");
    const parsed = JSON.parse(new TextDecoder().decode(manifest)) as Row;
    expect(parsed).toMatchObject({ version: 1, started_at: NOW, parts: { DB_3: objects.length - 1 } });

    const tables = await tablesIn();
    expect(tables.length).toBeGreaterThan(30);
    const copied = await imported("2026-01-31T00-00-30Z", (sql) => ({
      rows: tables.map((name) => sorted(sql.exec(`SELECT * FROM ${name}`).toArray())),
      schema: sql.exec("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").toArray(),
    }));
    for (const [index, name] of tables.entries())
      expect([name, copied.rows[index]]).toEqual([name, sorted(await rowsIn(`SELECT * FROM ${name}`))]);
    const schema = await rowsIn("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL");
    const ofService = ({ name }: Row) => !/^(sqlite_|_cf_)/.test(String(name));
    expect(sorted(copied.schema.filter(ofService))).toEqual(sorted(schema.filter(ofService)));
  });

  it("can be imported although rows change, go and come between its steps", async () => {
    const [kept] = await rowsIn("SELECT * FROM rooms WHERE id = 'r1'");
    const addRoom = "INSERT INTO rooms (account_id, id, name, name_folded, state, created_at)";
    const addUser = "INSERT INTO users (id, account_id, room_id, name, name_folded, role, created_at)";
    /** Statements by the table that the copy is in. */
    const changes = new Map([
      [
        "rooms",
        [
          // The custom ID goes to a room that is read later; a room goes before its users are read.
          "UPDATE rooms SET custom_id = NULL WHERE id = 'r0'",
          "UPDATE rooms SET custom_id = 'c0' WHERE id = 'r39'",
          "DELETE FROM rooms WHERE id = 'r2'",
        ],
      ],
      [
        "users",
        [
          // A room that is too late, with its user.
          `${addRoom} VALUES ('${account}', 'late', 'x', 'x', 'active', 1)`,
          `${addUser} VALUES ('late', '${account}', 'late', 'x', 'x', 'editor', 1)`,
        ],
      ],
    ]);
    for (let now = NOW; (await copiesIn()).at(-1)?.state !== "complete"; now += MINUTE_MS) {
      await continueCopies(ports(), now, newCallBudget("free", 24), SMALL);
      const position = await env.DB.prepare("SELECT position FROM copies").first<string>("position");
      const { table } = JSON.parse(position ?? "") as { table: string };
      for (const sql of changes.get(table) ?? []) await env.DB_3.exec(sql);
      changes.delete(table);
    }
    expect([...changes]).toEqual([]);
    const found = await imported("2026-01-31T00-00-30Z", (sql) => ({
      kept: sql.exec("SELECT * FROM rooms WHERE id = 'r1'").toArray()[0],
      holders: sql.exec("SELECT id FROM rooms WHERE custom_id = 'c0'").toArray(),
      orphans: sql
        .exec("SELECT id FROM users WHERE NOT EXISTS (SELECT 1 FROM rooms WHERE id = room_id)")
        .toArray(),
      violations: sql.exec("PRAGMA foreign_key_check").toArray(),
    }));
    expect(found).toEqual({ kept, holders: [{ id: "r39" }], orphans: [], violations: [] });
  });

  it("is made by one run at a time, and by another one two minutes after a crash", async () => {
    await Promise.all([runBriefly(NOW), runBriefly(NOW + 1)]);
    expect(await copiesIn()).toHaveLength(1);
    const { size } = await content();
    await env.DB.prepare("UPDATE copies SET taken_until = ?")
      .bind(NOW + 2 * MINUTE_MS)
      .run();
    await runBriefly(NOW + MINUTE_MS);
    expect((await content()).size).toBe(size);
    await runBriefly(NOW + 2 * MINUTE_MS);
    expect((await content()).size).toBeGreaterThan(size);
  });

  it("begins anew when the tables change", async () => {
    await runBriefly(NOW);
    await env.DB_3.exec("CREATE INDEX later ON rooms (name)");
    try {
      await runBriefly(NOW + MINUTE_MS);
      const end = await finish(NOW + 2 * MINUTE_MS);
      expect((await copiesIn()).map(({ state }) => state)).toEqual(["abandoned", "complete"]);
      // Only the complete copy stays in the bucket.
      for (let now = end; (await copiesIn()).length > 1; now += MINUTE_MS) await runBriefly(now);
      const folders = new Set([...(await content()).keys()].map((name) => name.split("/")[1]));
      expect([...folders]).toEqual(["2026-01-31T00-02-30Z"]);
    } finally {
      await env.DB_3.exec("DROP INDEX later");
    }
  });

  it("is made once a day, and deleted when it is too old", async () => {
    const keptMs = 2 * DAY_MS;
    for (let day = 0; day < 4; day += 1) {
      await finish(NOW + day * DAY_MS, { keptMs });
      await continueCopies(ports({ keptMs }), NOW + (day + 0.5) * DAY_MS, newCallBudget("paid"), SMALL);
    }
    expect((await copiesIn()).map(({ started_at }) => started_at)).toEqual(
      [2, 3].map((day) => NOW + day * DAY_MS),
    );
    const manifests = [...(await content()).keys()].filter((name) => name.endsWith("manifest.json"));
    expect(manifests).toHaveLength(2);
  });
});

it("an address that answers without having stored anything is no bucket", async () => {
  const page = openBucket({ ...settings(), url: `${RECEIVER}/status/200` });
  await expect(page.put("name", "text/plain", new Uint8Array())).rejects.toThrow("check COPY_TO");
});

it("the cron trigger copies all databases, logs a refusal once, and the health check warns after two days", async () => {
  const deployment = {
    ...env,
    COPY_TO: `${RECEIVER}/s3/${bucket}/nightly/`,
    COPY_ACCESS_KEY_ID: KEY.accessKeyId,
    COPY_SECRET_ACCESS_KEY: "wrong",
  };
  const now = Date.now();
  const run = (bindings: typeof deployment, at: number) =>
    runScheduledTasks(bindings, at, async (names) => {
      const { runHere } = await import("../../src/scheduled.ts");
      if (names.includes("copies")) await runHere(bindings, ["copies"], at);
    });
  const refused = now - 2 * DAY_MS - MINUTE_MS;
  await run(deployment, refused);
  expectLogged("403 (SignatureDoesNotMatch)");
  await run(deployment, refused + MINUTE_MS);
  expectLogged();
  expect(await healthWarnings(deployment)).toEqual([expect.stringContaining("for two days")]);
  expect(await healthWarnings(env)).toEqual([]);

  await run({ ...deployment, COPY_SECRET_ACCESS_KEY: "" }, refused + 2 * MINUTE_MS);
  expectLogged("The setting COPY_TO needs COPY_ACCESS_KEY_ID and COPY_SECRET_ACCESS_KEY");

  const right = { ...deployment, COPY_SECRET_ACCESS_KEY: KEY.secretAccessKey };
  await run(right, now);
  expect((await copiesIn()).at(-1)).toMatchObject({ started_at: now, state: "complete" });
  const manifest = [...(await content())].find(([name]) => name.endsWith("manifest.json"))?.[1];
  const { parts } = JSON.parse(new TextDecoder().decode(manifest)) as { parts: object };
  expect(Object.keys(parts)).toEqual(["DB", "DB_2", "DB_3"]);
  expect(await healthWarnings(right)).toEqual([]);
});
