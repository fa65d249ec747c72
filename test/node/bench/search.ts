/** The search bench: cost of searching a list of many users with the index of names, and without it. */

import { fold } from "@atrium/contract/text.ts";
import { listIdentities } from "../../../src/features/identities/queries.ts";
import { continueIndexes } from "../../../src/features/search/index-builder.ts";
import { findHits } from "../../../src/features/search/queries.ts";
import type { SearchHits } from "../../../src/features/search/statements.ts";
import { countUsers, selectUsers } from "../../../src/features/users/store.ts";
import type { Database as Batches, Statement } from "../../../src/platform/d1/d1.ts";
import { randomOf } from "../../support/random.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { type Database, serving } from "./serve.ts";
import { count, table } from "./table.ts";

const USERS = 1_000_000;
/** Users in the part `quick`, which takes a few minutes less. */
const FEW_USERS = 200_000;
/** Identities in the part `identities`. */
const IDENTITIES_COUNT = 60_000;
const RUNS = 10;
const SEEDED_AT_ONCE = 5_000;
/** The share of the users that each organization has, in one room. */
const SHARES = { large: 0.6, middle: 0.3, small: 0.1 };
const WRITTEN = 200;

const FIRST =
  "Ada Grace Linus Margaret Alan Edsger Barbara Björn Søren Łukasz Ольга Иван 张伟 田中 さくら محمد Zoë".split(
    " ",
  );
const SYLLABLES = "ka lo mi ren sto va ber ni du schm ter son ovi ch quat field ling wood a e rou".split(" ");

export const bench: Bench = {
  parts: ["quick", "identities"],
  run: (options) => (options.parts.includes("identities") ? runIdentities(options) : run(options)),
};

/** Cost of statements. */
interface Cost {
  readonly ms: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
}

class Names {
  readonly #random = randomOf(1);

  #pick(items: readonly string[]): string {
    return items[this.#random(items.length)] ?? "";
  }

  next(number: number): string {
    const last = this.#pick(SYLLABLES) + this.#pick(SYLLABLES) + this.#pick(SYLLABLES);
    return `${this.#pick(FIRST)} ${last}${number % 10 === 0 ? ` ${number}` : ""}`;
  }
}

/** Runs batches like the service, and adds up their costs. */
class Meter implements Batches {
  readonly #db: Database;
  cost: Cost = { ms: 0, rowsRead: 0, rowsWritten: 0 };

  constructor(db: Database) {
    this.#db = db;
  }

  run: Batches["run"] = async (statements) => {
    const bound = statements.map(({ sql, params }) => this.#db.prepare(sql).bind(...params));
    const results = await this.#db.batch(bound);
    for (const { meta } of results) {
      this.cost = {
        ms: this.cost.ms + meta.duration,
        rowsRead: this.cost.rowsRead + meta.rows_read,
        rowsWritten: this.cost.rowsWritten + meta.rows_written,
      };
    }
    return rowsOf(results);
  };

  async during(work: () => Promise<unknown>): Promise<Cost> {
    this.cost = { ms: 0, rowsRead: 0, rowsWritten: 0 };
    await work();
    return this.cost;
  }
}

/** The type of a statement names its rows, as in the service. */
const rowsOf = (results: readonly { readonly results: unknown[] }[]) =>
  results.map(({ results: rows }) => rows) as never;

const insertUsers = (
  accountId: string,
  users: readonly { readonly name: string; readonly at: number }[],
): Statement => ({
  sql: `INSERT INTO users (id, account_id, room_id, name, name_folded, role, created_at)
        SELECT value ->> 0, ?, ?, value ->> 1, value ->> 2, 'editor', value ->> 3 FROM json_each(?)`,
  params: [
    accountId,
    `room of ${accountId}`,
    JSON.stringify(users.map(({ name, at }) => [crypto.randomUUID(), name, fold(name), at])),
  ],
});

async function seed(db: Batches, names: Names, size: number, { progress }: BenchOptions): Promise<void> {
  for (const [accountId, share] of Object.entries(SHARES)) {
    await db.run([
      { sql: "INSERT INTO accounts (id, name, created_at) VALUES (?, ?, 0)", params: [accountId, accountId] },
      {
        sql: "INSERT INTO rooms (account_id, id, name, name_folded, state, created_at) VALUES (?, ?, 'R', 'R', 'active', 0)",
        params: [accountId, `room of ${accountId}`],
      },
    ]);
    progress(`Creating the ${count(size * share)} users of the ${accountId} organization`);
    for (let from = 0; from < size * share; from += SEEDED_AT_ONCE) {
      const users = Array.from({ length: SEEDED_AT_ONCE }, (_, i) => ({
        name: names.next(from + i),
        at: from + i,
      }));
      await db.run([insertUsers(accountId, users)]);
    }
  }
}

const EVERYTHING = { limit: 50, offset: 0, from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER };

async function searched(meter: Meter, accountId: string, text: string, isIndexed: boolean) {
  const room = { roomId: `room of ${accountId}` };
  const term = { text: fold(text), withIds: true };
  let total = 0;
  const search = async () => {
    const hits: SearchHits | null = isIndexed ? await findHits(meter, { accountId, ...room }, term) : null;
    const page = { ...EVERYTHING, search: term.text, hits };
    const tenant = { accountId, db: meter };
    const [, counted] = await meter.run([selectUsers(tenant, room, page), countUsers(tenant, room, page)]);
    total = counted[0]?.total ?? 0;
  };
  // The first run reads from the disk.
  await search();
  return { cost: await meter.during(search), total };
}

const SEARCHES = [
  "quatfieldlingwood",
  "999990",
  "margaret schm",
  "schm",
  "Ada",
  "伟",
  "ол",
  "zo",
  "a",
  "none of them",
];

/** Identities of one organization, with their index and without it. */
async function runIdentities(options: BenchOptions): Promise<BenchReport> {
  return serving(["refusing"], options.stop, async ({ db }) => {
    const meter = new Meter(db);
    const names = new Names();
    const tenant = { accountId: "large", db: meter };
    await meter.run([
      { sql: "INSERT INTO accounts (id, name, created_at) VALUES ('large', 'L', 0)", params: [] },
    ]);
    const insert = (from: number, size: number): Statement => ({
      sql: `INSERT INTO identities (account_id, id, kind, name, name_folded, created_at)
            SELECT 'large', value ->> 0, 'person', value ->> 1, value ->> 2, value ->> 3 FROM json_each(?)`,
      params: [
        JSON.stringify(
          Array.from({ length: size }, (_, i) => {
            const name = names.next(from + i);
            return [crypto.randomUUID(), name, fold(name), from + i];
          }),
        ),
      ],
    });
    options.progress(`Creating ${count(IDENTITIES_COUNT)} identities`);
    for (let from = 0; from < IDENTITIES_COUNT; from += SEEDED_AT_ONCE)
      await meter.run([insert(from, SEEDED_AT_ONCE)]);
    const search = async (text: string) => {
      const page = { ...EVERYTHING, search: fold(text) };
      await listIdentities(tenant, page); // the first run reads from the disk
      let total = 0;
      const { ms, rowsRead } = await meter.during(async () => {
        for (let run = 0; run < RUNS; run += 1) total = (await listIdentities(tenant, page)).total;
      });
      return { ms: ms / RUNS, rowsRead: rowsRead / RUNS, total };
    };
    const plain = new Map<string, Awaited<ReturnType<typeof search>>>();
    for (const text of SEARCHES) plain.set(text, await search(text));
    options.progress("Building the index of names");
    const unfinished = db.prepare("SELECT 1 FROM search_lists WHERE state <> 'complete'");
    while ((await unfinished.first()) !== null) await continueIndexes(meter, "", console.error);
    const rows: string[][] = [];
    for (const [text, before] of plain) {
      const after = await search(text);
      if (before.total !== after.total) throw new Error(`The index finds others than the list for ${text}`);
      rows.push([
        ...[text, count(before.total)],
        ...[before, after].flatMap(({ ms, rowsRead }) => [ms.toFixed(1), count(rowsRead)]),
      ]);
    }
    const head = ["Search", "Matches", "ms, list", "Rows read", "ms, index", "Rows read"];
    return { markdown: table(head, rows), raw: { rows } };
  });
}

async function run(options: BenchOptions): Promise<BenchReport> {
  const users = options.parts.includes("quick") ? FEW_USERS : USERS;
  return serving(["refusing"], options.stop, async ({ db }) => {
    const meter = new Meter(db);
    const names = new Names();
    const size = async () => (await db.prepare("SELECT 1").run()).meta.size_after;
    const { sql } = (await db
      .prepare("SELECT sql FROM sqlite_master WHERE name = 'search_after_insert_of_users'")
      .first<{ sql: string }>()) ?? { sql: "" };
    await db.prepare("DROP TRIGGER search_after_insert_of_users").run();
    await seed(meter, names, users, options);
    const user = (at: number) => insertUsers("large", [{ name: names.next(at), at }]);
    const create = async () => {
      for (let at = 0; at < WRITTEN; at += 1) await meter.run([user(users + at)]);
    };
    const [bytesBefore, plainWrites] = [await size(), await meter.during(create)];
    await db.prepare(sql).run();
    options.progress("Building the index of names");
    const built = await meter.during(async () => {
      const unfinished = db.prepare("SELECT 1 FROM search_lists WHERE state <> 'complete'");
      while ((await unfinished.first()) !== null) await continueIndexes(meter, "", console.error);
    });
    const [bytesAfter, indexedWrites] = [await size(), await meter.during(create)];
    const rows: string[][] = [];
    options.progress("Searching with the index, and without it");
    for (const text of SEARCHES) {
      for (const accountId of ["large", "small"]) {
        const plain = await searched(meter, accountId, text, false);
        const indexed = await searched(meter, accountId, text, true);
        if (plain.total !== indexed.total)
          throw new Error(`The index finds others than the list for ${text}`);
        rows.push([
          `${text}, ${accountId}`,
          count(plain.total),
          ...[plain, indexed].flatMap(({ cost }) => [cost.ms.toFixed(1), count(cost.rowsRead)]),
        ]);
      }
    }
    const head = ["Search, organization", "Matches", "ms, list", "Rows read", "ms, index", "Rows read"];
    const perUser = (cost: Cost) =>
      `${(cost.rowsWritten / WRITTEN).toFixed(1)} rows written, ${(cost.ms / WRITTEN).toFixed(2)} ms`;
    const markdown = [
      table(head, rows),
      `${count(users)} users. The index takes ${count((bytesAfter - bytesBefore) / users)} bytes a user beside ${count(bytesBefore / users)}.`,
      `Building it: ${(built.rowsWritten / users).toFixed(1)} rows written and ${((built.ms / users) * 1000).toFixed(0)} µs a user.`,
      `Creating a user: without the index ${perUser(plainWrites)}; with it ${perUser(indexedWrites)}.`,
    ].join("\n\n");
    return { markdown, raw: { rows, bytesBefore, bytesAfter, built, plainWrites, indexedWrites } };
  });
}
