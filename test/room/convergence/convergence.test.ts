/** R32 to R35, R49, R50 and R52 as properties: whatever is lost on the way, all clients converge. */

import type { Role } from "@atrium/contract/resources/user.ts";
import fc from "fast-check";
import { describe, expect, inject, vi } from "vitest";
import { Changes } from "../../../src/room/engine/content/changes.ts";
import type { Change, ServerMessage } from "../../../src/room/protocol/protocol.ts";
import type { RoomStorage, SqliteStorage } from "../../../src/room/storage/storage.ts";
import type { Runs } from "../../node/endurance/runs.ts";
import { FuzzedRoom } from "../fuzz/fuzzed-room.ts";
import { roomPorts } from "../support/room-ports.ts";
import { fold, test } from "../support/with-storage.ts";
import { runScenario } from "./convergence.ts";
import type { ClientConnection, Environment, RoomOverview } from "./environment.ts";
import { STORE } from "./log.ts";
import { scenario } from "./steps.ts";

const MAX_PAGE = 3;

/** Opens and joins sockets of a hosted room, in which the model knows at each moment who is online. */
class SimulatedRoom implements Environment {
  readonly userIds: readonly string[];
  readonly #host: FuzzedRoom;
  readonly #storage: () => RoomStorage;
  #connections = 0;

  /** `storage` is called whenever the room starts. */
  constructor(storage: () => RoomStorage, users: number) {
    this.#storage = storage;
    this.#host = new FuzzedRoom(storage, { roles: Array<Role>(users).fill("editor"), graceMs: 0 });
    this.userIds = this.#host.userIds;
  }

  async open(
    userId: string,
    since: number,
    receive: (message: ServerMessage) => void,
  ): Promise<ClientConnection> {
    let isCut = false;
    const receiver = {
      receive: (frame: string | Uint8Array) => {
        if (!isCut) receive(JSON.parse(String(frame)));
      },
      close: () => {},
    };
    const line = await this.#host.open(receiver, false);
    const send = (message: object) => void line.send(JSON.stringify(message));
    this.#connections += 1;
    const token = await this.#host.token(this.userIds.indexOf(userId));
    const usersLimit = 1 + (this.#connections % MAX_PAGE); // small pages, so that others come and go between them
    send({ type: "JOIN_ROOM", data: { token, since, usersLimit } });
    return {
      send,
      cut: (last) => {
        isCut = true;
        if (last !== undefined) send(last);
        void line.cut();
      },
    };
  }

  async idle(how: "flush" | "hibernate"): Promise<void> {
    await this.#host[how]();
  }

  crash(): Promise<void> {
    return this.#host.crash();
  }

  settle(): Promise<void> {
    return this.#host.flush();
  }

  async overview(): Promise<RoomOverview> {
    const { entries } = this.#storage().entries.size(STORE);
    return { participants: this.#host.participants, entries };
  }
}

const { seed, simulations }: Runs = inject("endurance");
/** Limits against hanging, far above the time on a busy machine: for starting, and for each run. */
const [START_MS, RUN_MS] = [120_000, 1_000];

console.log(`Convergence: ${simulations} runs, with seed ${seed}`);

test(
  "all clients see one sequence, nothing is lost or repeated, presence is current (R32 to R35, R49, R50, R52)",
  ({ reopen }) => {
    const property = fc.asyncProperty(scenario, (each) => {
      reopen().clear();
      return runScenario(new SimulatedRoom(reopen, each[0]), each);
    });
    return fc.assert(property, { seed, numRuns: simulations });
  },
  START_MS + simulations * RUN_MS,
);

describe("a log of changes", () => {
  const openLog = (storage: RoomStorage, now = () => 0) => {
    const changes = new Changes(roomPorts({ storage, now }));
    const data = (seq: number, key: string, value: unknown) => ({
      store: "s",
      key,
      action: "set",
      value,
      version: seq,
    });
    return {
      changes,
      /** Logs changes of entries with these keys, or others where the key is null. */
      append: (times: number, keyOf: (index: number) => string | null, newValue: () => unknown = () => 1) =>
        changes.transaction(() => {
          for (let index = 0; index < times; index += 1) {
            const key = keyOf(index);
            const value = newValue();
            if (key === null) changes.append("userUpdated", () => ({ value }));
            else {
              const entry = { store: "s", key, value: JSON.stringify(value) };
              changes.append("storeChanged", (seq) => data(seq, key, value), entry);
            }
          }
        }),
      seqsSince: (seq: number): number[] | null => {
        const missed = changes.since(seq);
        return missed && (JSON.parse(missed.text) as Change[]).map((change) => change.seq);
      },
    };
  };

  test("tells a history that a backup has replaced from its own, with either number (R79)", ({ storage }) => {
    const seqsOf = (text: string | undefined) => (JSON.parse(text ?? "[]") as Change[]).map(({ seq }) => seq);
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
  });

  test("goes on with the epoch in which it began a change that is taken back (R79)", ({ storage }) => {
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
  });

  /** The rows of the log, and of the journal that is not in it yet. */
  const rowsOf = (storage: SqliteStorage) =>
    storage.find<{ log: number; bytes: number; journal: number }>(
      `SELECT (SELECT ifnull(sum(changes), 0) FROM log) AS log, (SELECT ifnull(sum(bytes), 0) FROM log) AS bytes,
         (SELECT count(*) FROM journal) AS journal`,
    );

  test("keeps the last 10,000 changes of 24 hours (R33)", ({ storage, reopen }) => {
    let now = 0;
    const { changes, append, seqsSince } = openLog(storage, () => now);
    append(10_050, () => null);
    expect([seqsSince(49), seqsSince(50)?.length]).toEqual([null, 10_000]);
    append(10_050, () => null);
    expect(rowsOf(storage)).toEqual({ log: 10_000, bytes: 110_000, journal: 0 });
    expect([seqsSince(10_099), seqsSince(10_100)?.length]).toEqual([null, 10_000]);
    now = 24 * 3_600_000 + 1;
    append(1, () => null);
    expect([seqsSince(20_099), seqsSince(20_100)]).toEqual([null, [20_101]]);
    fold(storage);
    expect(rowsOf(storage)).toEqual({ log: 1, bytes: 11, journal: 0 });
    now *= 2;
    expect([seqsSince(20_099), seqsSince(20_100)]).toEqual([null, [20_101]]);
    expect([seqsSince(20_101), seqsSince(20_102), changes.lastSeq]).toEqual([[], null, 20_101]);
    expect(reopen().changes.lastSeq()).toBe(20_101);
  });

  test("keeps of each entry the latest change, and only that counts against 1 MiB (R33)", ({ storage }) => {
    const { append, seqsSince } = openLog(storage);
    const large = () => "x".repeat(99_930);
    append(100, (index) => `${index % 10}`, large);
    expect(seqsSince(0)).toEqual([91, 92, 93, 94, 95, 96, 97, 98, 99, 100]);
    expect(rowsOf(storage)).toMatchObject({ log: 10, journal: 0 });
    append(1, () => "another", large);
    expect([seqsSince(90), seqsSince(91)?.length]).toEqual([null, 10]);
    append(1, () => "9");
    expect(seqsSince(91)).toEqual([92, 93, 94, 95, 96, 97, 98, 99, 101, 102]);
    for (let round = 0; round < 3; round += 1) append(9, (index) => `${index}`, large);
    expect(seqsSince(91)).toEqual([101, 102, 121, 122, 123, 124, 125, 126, 127, 128, 129]);
    expect(rowsOf(storage)?.bytes).toBeLessThan(2 * 1024 * 1024);
    append(
      1,
      () => null,
      () => "x".repeat(3 * 1024 * 1024),
    );
    fold(storage);
    expect([seqsSince(128), seqsSince(129)]).toEqual([null, [130]]);
  });

  /** Counts the rows of the log whose changes are read from now on. */
  const countLogRead = (storage: SqliteStorage) => {
    const read = vi.spyOn(storage, "read");
    return () =>
      read.mock.results.reduce((rows, { value }, call) => {
        const isOfChanges = /\bdata FROM log\b/.test(read.mock.calls[call]?.[0] ?? "");
        return rows + (isOfChanges ? (value as object[]).length : 0);
      }, 0);
  };

  // Each client that came back had the room parse all that it kept.
  test("is read once for all clients that have missed too much of it (R33)", ({ storage }) => {
    let now = 0;
    const { append, seqsSince } = openLog(storage, () => now);
    append(10_050, () => null);
    const rowsRead = countLogRead(storage);
    expect(seqsSince(0)).toBeNull();
    const once = rowsRead();
    expect(once).toBe(storage.read("SELECT seq FROM log").length);
    for (const seq of [0, 10, 49]) expect(seqsSince(seq)).toBeNull();
    expect(rowsRead()).toBe(once);
    expect(seqsSince(50)).toHaveLength(10_000);
    now = 24 * 3_600_000 + 1;
    expect(seqsSince(50)).toBeNull();
    const twice = rowsRead();
    for (const seq of [50, 5_000, 10_048]) expect(seqsSince(seq)).toBeNull();
    expect(rowsRead()).toBe(twice);
    expect(seqsSince(10_049)).toEqual([10_050]);
  });

  // A page of the history read all that was kept after it.
  test("is read as far as a page of changes of stores needs it", ({ storage }) => {
    const { changes, append } = openLog(storage);
    changes.keepEvery();
    append(
      100,
      (index) => (index % 2 === 0 ? "k" : null),
      () => "x".repeat(16_000),
    );
    fold(storage);
    const rowsRead = countLogRead(storage);
    const seqsOf = (after: number) => changes.ofStores(after, 3).changes.map(({ seq }) => seq);
    expect([seqsOf(0), seqsOf(95)]).toEqual([
      [1, 3, 5],
      [97, 99],
    ]);
    expect(rowsRead()).toBeLessThan(40);
  });

  test("forgets what a transaction logged that is undone (R35)", ({ storage, reopen }) => {
    const { changes, append, seqsSince } = openLog(storage);
    append(2, (index) => `${index}`);
    const failing = (value: string) => () =>
      changes.transaction(() => {
        append(
          1,
          () => "0",
          () => value,
        );
        fold(storage);
        append(
          1,
          () => "1",
          () => value,
        );
        throw new Error("on purpose");
      });
    for (const value of ["small", "x".repeat(400_000)]) {
      expect(failing(value)).toThrow("on purpose");
      expect([seqsSince(0), rowsOf(storage)]).toEqual([[1, 2], { log: 0, bytes: 0, journal: 1 }]);
      expect(storage.entries.find("s", "0")).toEqual({ key: "0", value: "1", version: 1 });
    }
    append(1, () => "1");
    expect([seqsSince(0), seqsSince(1)]).toEqual([[1, 3], [3]]);
    const { entries } = reopen();
    expect([entries.find("s", "1"), [...entries.scan("s", null)].map(({ version }) => version)]).toEqual([
      { key: "1", value: "1", version: 3 },
      [1, 3],
    ]);
  });
});
