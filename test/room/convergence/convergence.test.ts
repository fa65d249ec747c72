/** R32 to R35, R49, R50 and R52 as properties: whatever is lost on the way, all clients converge. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import { Changes } from "../../../src/room/engine/content/changes.ts";
import type { Change } from "../../../src/room/protocol/protocol.ts";
import type { RoomStorage } from "../../../src/room/storage/storage.ts";
import { SqliteStorage } from "../../../src/room/storage/storage-sqlite.ts";
import type { Runs } from "../../endurance/runs.ts";
import { MemoryStorage } from "../memory-storage/storage-memory.ts";
import { runScenario } from "./convergence.ts";
import { SimulatedRoom } from "./simulated-room.ts";
import { scenario } from "./steps.ts";

const { seed, inMemory, inSqlite }: Runs = inject("endurance");
/** Against hanging, not against being slow: for starting, and for each run. */
const [START_MS, RUN_MS] = [120_000, 1_000];

console.log(`Convergence: ${inMemory} runs in memory and ${inSqlite} in SQLite, with seed ${seed}`);

it(
  "in memory: all clients see one sequence, nothing is lost or repeated, presence is current (R32 to R35, R49, R50, R52)",
  async () => {
    const property = fc.asyncProperty(scenario, (each) => {
      const storage = new MemoryStorage();
      return runScenario(new SimulatedRoom(() => storage, each[0]), each);
    });
    await fc.assert(property, { seed, numRuns: inMemory });
  },
  START_MS + inMemory * RUN_MS,
);

it(
  "in SQLite, reopened whenever the room starts: the same holds (R32 to R35, R49, R50, R52)",
  async () => {
    const property = fc.asyncProperty(scenario, (each) =>
      runInDurableObject(env.ROOMS.getByName(crypto.randomUUID()), (_, state) =>
        runScenario(new SimulatedRoom(() => new SqliteStorage(state.storage), each[0]), each),
      ),
    );
    await fc.assert(property, { seed, numRuns: inSqlite });
  },
  START_MS + inSqlite * RUN_MS,
);

describe.each([
  ["memory", (work: (storage: RoomStorage) => void) => work(new MemoryStorage())],
  [
    "SQLite",
    (work: (storage: RoomStorage) => void) =>
      runInDurableObject(env.ROOMS.getByName(crypto.randomUUID()), (_, state) =>
        work(new SqliteStorage(state.storage)),
      ),
  ],
] as const)("a log of changes in %s", (_, withStorage) => {
  const openLog = (storage: RoomStorage, now = () => 0) => {
    const changes = new Changes(storage, now, crypto.randomUUID.bind(crypto));
    /** By the keys of entries, their latest changes. */
    const written = new Map<string, number>();
    return {
      changes,
      append: (times: number, keyOf: (index: number) => string | null, dataOf: () => object = () => ({})) =>
        changes.transaction(() => {
          for (let index = 0; index < times; index += 1) {
            const key = keyOf(index);
            const before = written.get(key ?? "") ?? 0;
            const entry = key === null ? null : { store: "s", key, before, isDeleted: false };
            const { seq } = changes.append("storeChanged", dataOf, entry);
            if (key !== null) written.set(key, seq);
          }
        }),
      seqsSince: (seq: number): number[] | null => {
        const missed = changes.since(seq);
        return missed && (JSON.parse(missed.text) as Change[]).map((change) => change.seq);
      },
      oldest: () => [...storage.changes.oldest()][0]?.seq,
    };
  };

  it("tells a history that a backup has replaced from its own, with either number (R79)", () =>
    withStorage((storage) => {
      const seqsOf = (text: string | undefined) =>
        (JSON.parse(text ?? "[]") as Change[]).map(({ seq }) => seq);
      // The backup was made after the first change; the room then made two more, and those are gone.
      const before = openLog(storage);
      before.append(1, () => null);
      const { epoch } = before.changes;
      expect(before.changes.since(3, epoch)).toBeNull();
      const { changes, append } = openLog(storage);
      append(4, () => null);
      expect(changes.epoch).not.toBe(epoch);
      expect(changes.since(3, epoch)).toBeNull();
      expect(changes.since(1, "begun after the backup")).toBeNull();
      expect(seqsOf(changes.since(1, epoch)?.text)).toEqual([2, 3, 4, 5]);
      expect(seqsOf(changes.since(3, changes.epoch)?.text)).toEqual([4, 5]);
      expect(seqsOf(changes.since(3)?.text)).toEqual([4, 5]);
    }));

  it("goes on with the epoch in which it began a change that is taken back (R79)", () =>
    withStorage((storage) => {
      const { changes, append } = openLog(storage);
      const fail = () => {
        throw new Error("Taken back");
      };
      expect(() => append(1, () => null, fail)).toThrow("Taken back");
      const { epoch } = changes;
      expect(storage.epochs.latest()).toBe(epoch);
      expect(() => append(1, () => null, fail)).toThrow("Taken back");
      append(1, () => null);
      expect(changes.epoch).toBe(epoch);
    }));

  it("keeps the last 10,000 changes of 24 hours (R33)", () =>
    withStorage((storage) => {
      let now = 0;
      const { changes, append, seqsSince, oldest } = openLog(storage, () => now);
      append(10_050, () => null);
      expect([oldest(), seqsSince(49), seqsSince(50)?.length]).toEqual([51, null, 10_000]);
      now = 24 * 3_600_000 + 1;
      append(1, () => null);
      expect([oldest(), seqsSince(10_049), seqsSince(10_050)]).toEqual([10_051, null, [10_051]]);
      expect(storage.changes.readTotals()).toEqual({ droppedSeq: 10_050, changes: 1, bytes: 2 });
      expect([seqsSince(10_051), seqsSince(10_052), changes.lastSeq]).toEqual([[], null, 10_051]);
    }));

  it("keeps of each entry the latest change, and only that counts against 1 MiB (R33)", () =>
    withStorage((storage) => {
      const { append, seqsSince, oldest } = openLog(storage);
      const large = () => ({ text: "x".repeat(99_989) });
      append(100, (index) => `${index % 10}`, large);
      expect(seqsSince(0)).toEqual([91, 92, 93, 94, 95, 96, 97, 98, 99, 100]);
      expect(storage.changes.readTotals()).toEqual({ droppedSeq: 0, changes: 10, bytes: 1_000_000 });
      append(1, () => "another", large);
      expect([oldest(), seqsSince(90), seqsSince(91)?.length]).toEqual([92, null, 10]);
      append(1, () => "9");
      expect(seqsSince(91)).toEqual([92, 93, 94, 95, 96, 97, 98, 99, 101, 102]);
      expect(storage.changes.readTotals()).toEqual({ droppedSeq: 91, changes: 10, bytes: 900_002 });
    }));

  it("forgets what a transaction logged that is undone (R35)", () =>
    withStorage((storage) => {
      const { changes, append, seqsSince } = openLog(storage);
      append(2, (index) => `${index}`);
      const failing = () =>
        changes.transaction(() => {
          const entry = { store: "s", key: "0", before: 1, isDeleted: false };
          changes.append("storeChanged", () => ({ large: "x".repeat(2_000_000) }), entry);
          throw new Error("on purpose");
        });
      expect(failing).toThrow("on purpose");
      expect([seqsSince(0), storage.changes.readTotals().changes]).toEqual([[1, 2], 2]);
      append(1, () => "1");
      expect([seqsSince(0), seqsSince(1)]).toEqual([[1, 3], [3]]);
    }));
});
