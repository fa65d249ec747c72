/** R32 to R35, R49, R50 and R52 as properties: whatever is lost on the way, all clients converge. */

import type { Role } from "@atrium/contract/resources/user.ts";
import fc from "fast-check";
import { describe, expect, inject } from "vitest";
import { Changes } from "../../../src/room/engine/content/changes.ts";
import type { Change, ServerMessage } from "../../../src/room/protocol/protocol.ts";
import type { RoomStorage } from "../../../src/room/storage/storage.ts";
import type { Runs } from "../../node/endurance/runs.ts";
import { FuzzedRoom } from "../fuzz/fuzzed-room.ts";
import { roomPorts } from "../support/room-ports.ts";
import { test } from "../support/with-storage.ts";
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
    /** Latest changes by the keys of their entries. */
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

  test("keeps the last 10,000 changes of 24 hours (R33)", ({ storage }) => {
    let now = 0;
    const { changes, append, seqsSince, oldest } = openLog(storage, () => now);
    append(10_050, () => null);
    expect([oldest(), seqsSince(49), seqsSince(50)?.length]).toEqual([51, null, 10_000]);
    now = 24 * 3_600_000 + 1;
    append(1, () => null);
    expect([oldest(), seqsSince(10_049), seqsSince(10_050)]).toEqual([10_051, null, [10_051]]);
    expect(storage.changes.readTotals()).toEqual({
      droppedSeq: 10_050,
      changes: 1,
      bytes: 2,
      keepsEvery: false,
    });
    expect([seqsSince(10_051), seqsSince(10_052), changes.lastSeq]).toEqual([[], null, 10_051]);
  });

  test("keeps of each entry the latest change, and only that counts against 1 MiB (R33)", ({ storage }) => {
    const { append, seqsSince, oldest } = openLog(storage);
    const large = () => ({ text: "x".repeat(99_989) });
    append(100, (index) => `${index % 10}`, large);
    expect(seqsSince(0)).toEqual([91, 92, 93, 94, 95, 96, 97, 98, 99, 100]);
    expect(storage.changes.readTotals()).toEqual({
      droppedSeq: 0,
      changes: 10,
      bytes: 1_000_000,
      keepsEvery: false,
    });
    append(1, () => "another", large);
    expect([oldest(), seqsSince(90), seqsSince(91)?.length]).toEqual([92, null, 10]);
    append(1, () => "9");
    expect(seqsSince(91)).toEqual([92, 93, 94, 95, 96, 97, 98, 99, 101, 102]);
    expect(storage.changes.readTotals()).toEqual({
      droppedSeq: 91,
      changes: 10,
      bytes: 900_002,
      keepsEvery: false,
    });
  });

  test("forgets what a transaction logged that is undone (R35)", ({ storage }) => {
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
  });
});
