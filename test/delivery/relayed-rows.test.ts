/** Rows of the outbox that are deleted together: which of them, when, and what becomes of them when a request ends. */
import { expect, it } from "vitest";
import { RelayedRows } from "../../src/delivery/outbox/outbox.ts";
import type { Database, Results, Statement } from "../../src/platform/d1/d1.ts";

/** What statements return that find nothing. The type of a statement names its rows, of which there are none. */
const noRowsOf = <T extends readonly Statement[]>(statements: T): Results<T> =>
  statements.map(() => []) as unknown as Results<T>;

function subject() {
  const clock = { now: 0 };
  const trips: string[][] = [];
  const waits: { readonly ms: number; end(): void }[] = [];
  const database = { fails: false };
  const db: Database = {
    run: async (statements) => {
      trips.push(statements.map(({ sql, params }) => `${/outbox\w*/.exec(sql)?.[0]} ${params[0]}`));
      if (database.fails) throw new Error("The database failed");
      return noRowsOf(statements);
    },
  };
  const rows = new RelayedRows({
    now: () => clock.now,
    wait: (ms) => new Promise<void>((end) => waits.push({ ms, end })),
  });
  /** Resolves when what the request defers is done; at once when it defers nothing. */
  const remove = (id: string, kind: "commands" | "events" = "events", accountId = "a"): Promise<unknown> => {
    const deferred: Promise<unknown>[] = [];
    rows.delete({ db, defer: (work) => deferred.push(work) }, accountId, kind, id);
    return Promise.all(deferred);
  };
  return { clock, database, trips, waits, remove };
}

it("the first one waits for a moment, and deletes those that came meanwhile in one trip", async () => {
  const { trips, waits, remove } = subject();
  const first = remove("1");
  await Promise.all([remove("2"), remove("c", "commands"), remove("3")]);
  expect([trips, waits.map(({ ms }) => ms)]).toEqual([[], [50]]);
  waits[0]?.end();
  await first;
  expect(trips).toEqual([['outbox ["c"]', 'outbox_events ["1","2","3"]']]);
  void remove("4");
  expect(waits).toHaveLength(2);
});

it("no organization waits for another one", () => {
  const { waits, remove } = subject();
  void remove("1", "events", "a");
  void remove("1", "events", "b");
  expect(waits).toHaveLength(2);
});

it("two hundred are deleted at once, and none of them again", async () => {
  const { trips, waits, remove } = subject();
  const first = remove("0");
  for (let id = 1; id < 199; id += 1) await remove(`${id}`);
  expect(trips).toEqual([]);
  await remove("199");
  expect(trips).toEqual([[expect.stringMatching(/^outbox_events \["0",.*"199"\]$/)]]);
  const next = remove("200");
  waits[0]?.end();
  await first;
  expect(trips).toHaveLength(1);
  waits[1]?.end();
  await next;
  expect(trips[1]).toEqual(['outbox_events ["200"]']);
});

it("what fails is left to the cron trigger, and holds up nothing", async () => {
  const { database, trips, waits, remove } = subject();
  const first = remove("1");
  database.fails = true;
  waits[0]?.end();
  await expect(first).rejects.toThrow("The database failed");
  database.fails = false;
  const second = remove("2");
  waits[1]?.end();
  await second;
  expect(trips.at(-1)).toEqual(['outbox_events ["2"]']);
});

it("a request that was ended is replaced by a later one, which deletes its rows too", async () => {
  const { clock, trips, waits, remove } = subject();
  void remove("1");
  clock.now = 4_999;
  await remove("2");
  clock.now = 5_000;
  const third = remove("3");
  waits[1]?.end();
  await third;
  expect(trips).toEqual([['outbox_events ["1","2","3"]']]);
});
