/** Writes that share a round trip: which of them go together, and what becomes of them when one fails or hangs. */
import { expect, it } from "vitest";
import { SharedWrites } from "../../src/delivery/outbox/shared-writes.ts";
import type { Database, Results, Statement } from "../../src/platform/d1.ts";

const named = (sql: string): Statement => ({ sql, params: [] });

/** What statements return that find nothing. The type of a statement names its rows, of which there are none. */
const noRowsOf = <T extends readonly Statement[]>(statements: T): Results<T> =>
  statements.map(() => []) as unknown as Results<T>;

/** A database whose round trips end when the test says so. */
class SlowDatabase implements Database {
  readonly trips: string[][] = [];
  readonly #ends: { resolve(): void; reject(error: unknown): void }[] = [];

  readonly run: Database["run"] = (statements) => {
    this.trips.push(statements.map(({ sql }) => sql));
    return new Promise((resolve, reject) => {
      this.#ends.push({ resolve: () => resolve(noRowsOf(statements)), reject });
    });
  };

  end(trip: number): void {
    this.#ends[trip]?.resolve();
  }

  fail(trip: number): void {
    this.#ends[trip]?.reject(new Error("The database failed"));
  }
}

function subject() {
  const clock = { now: 0 };
  const db = new SlowDatabase();
  const writes = new SharedWrites(() => clock.now);
  return { clock, db, write: (sql: string, accountId = "a") => writes.run(db, accountId, named(sql)) };
}

it("what is written while a statement is on its way goes together after it", async () => {
  const { db, write } = subject();
  const first = write("1");
  await Promise.all([write("2"), write("3")]);
  expect(db.trips).toEqual([["1"]]);
  db.end(0);
  await expect.poll(() => db.trips).toEqual([["1"], ["2", "3"]]);
  db.end(1);
  await first;
  const last = write("4");
  expect(db.trips.at(-1)).toEqual(["4"]);
  db.end(2);
  await last;
});

it("no organization waits for another one", () => {
  const { db, write } = subject();
  void write("1", "a");
  void write("2", "b");
  expect(db.trips).toEqual([["1"], ["2"]]);
});

it("after a failure the next one takes along what waited", async () => {
  const { db, write } = subject();
  const first = write("1");
  await write("2");
  db.fail(0);
  await expect(first).rejects.toThrow("The database failed");
  void write("3");
  expect(db.trips).toEqual([["1"], ["2", "3"]]);
});

it("a request that was ended is replaced by a later one", async () => {
  const { clock, db, write } = subject();
  void write("1");
  clock.now = 4_999;
  await write("2");
  clock.now = 5_000;
  void write("3");
  expect(db.trips).toEqual([["1"], ["2", "3"]]);
});
