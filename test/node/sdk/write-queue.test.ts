/** The queue of writes: superseding, batches, and outcomes. */
import { describe, expect, it } from "vitest";
import { PendingRequests } from "../../../packages/sdk/client/connection/requests.ts";
import { watchPageClose } from "../../../packages/sdk/client/stores/page-close.ts";
import type { QueuedWrite, StorePersistence } from "../../../packages/sdk/client/stores/waiting-writes.ts";
import { WriteQueue } from "../../../packages/sdk/client/stores/write-queue.ts";
import type { FittedWrite, Written } from "../../../packages/sdk/client/stores/writes.ts";
import { Unsynced } from "../../../packages/sdk/client/unsynced.ts";
import { DEFAULT_RUNTIME, type Runtime } from "../../../packages/sdk/core/runtime.ts";
import { Clock } from "./clock.ts";
import { settle } from "./model/model-client.ts";

interface Frame {
  readonly requestId: string;
  readonly data: { readonly operations: Record<string, unknown>[]; readonly atomic: boolean };
}

const set = (key: string, value: unknown, ifVersion?: number): FittedWrite => ({
  action: "set",
  key,
  value,
  ifVersion,
});
const update = (key: string, value: unknown): FittedWrite => ({ action: "update", key, value });
const remove = (key: string): FittedWrite => ({ action: "delete", key, value: null });

/** A queue with one store, and the frames that it sends. */
class WriteQueueFixture {
  readonly clock = new Clock();
  readonly requests = new PendingRequests(this.clock);
  readonly queue: WriteQueue;
  readonly unsynced: Unsynced;
  readonly frames: Frame[] = [];
  readonly refused: unknown[] = [];
  readonly store = {
    name: "notes",
    settle: ({ value }: QueuedWrite, isRefused: boolean) => {
      if (isRefused) this.refused.push(value);
    },
  };

  constructor(persistence?: StorePersistence) {
    this.requests.accept();
    this.queue = new WriteQueue(this.requests, this.clock, persistence);
    this.unsynced = new Unsynced(this.queue, this.requests, this.clock);
  }

  connect(send = (frame: string): void => void this.frames.push(JSON.parse(frame))): void {
    this.requests.resume(send);
    this.queue.joined();
  }

  write(...writes: FittedWrite[]): Promise<Written>[] {
    return writes.map((write) => this.queue.add(this.store, write).written);
  }

  /** Writes, and leaves the outcome to other checks. */
  put(...writes: FittedWrite[]): void {
    for (const written of this.write(...writes)) written.catch(() => {});
  }

  /** The operations of each frame as `KEY=VALUE`. */
  get sent(): string[][] {
    const shown = ({ type, key, value }: Record<string, unknown>) =>
      `${String(type).slice(6).toLowerCase()} ${key} ${JSON.stringify(value) ?? ""}`.trim();
    return this.frames.map(({ data }) => data.operations.map(shown));
  }

  answer(frame: Frame | undefined, results: unknown[]): void {
    const data = { results, seq: 9 };
    this.requests.settle({ requestId: frame?.requestId ?? "", data, fault: null });
  }
}

const types = (sender: WriteQueueFixture): unknown[] => sender.frames.map((frame) => Object(frame).type);

const error = { code: "CONFLICT", module: "Rooms", message: "Refused" };

describe("a broadcast (R80)", () => {
  const broadcast = (sender: WriteQueueFixture, event: string) =>
    sender.requests.send("BROADCAST", { event }, { read: () => event }).catch((error) => error.code);
  /** Sent frames in order: the values of batches, and the events of broadcasts. */
  const order = (sender: WriteQueueFixture): unknown[] =>
    sender.frames.map(({ data }) => Object(data).event ?? data.operations.map(({ value }) => value));

  it("made without a connection is sent after the writes before it, and before those after it", () => {
    const sender = new WriteQueueFixture();
    sender.put(set("a", 1), set("b", 2));
    void broadcast(sender, "first");
    void broadcast(sender, "second");
    sender.put(set("a", 3));
    void broadcast(sender, "third");
    sender.put(set("a", 4));
    sender.connect();
    sender.answer(sender.frames[0], [{ seq: 1 }, { seq: 2 }]);
    sender.answer(sender.frames.at(-1), [{ seq: 3 }]);
    sender.clock.advance(16);
    expect(order(sender)).toEqual([[1, 2], "first", "second", [3], "third", [4]]);
  });

  it("waits for writes that the connection cannot take yet, and keeps its place when it is lost", () => {
    const sender = new WriteQueueFixture();
    sender.connect();
    for (let index = 0; index < 9; index += 1) sender.put(set(`${index}`, "x".repeat(100_000)));
    void broadcast(sender, "last");
    const keys = () => sender.frames.map(({ data }) => Object(data).event ?? data.operations[0]?.key);
    expect(keys()).toEqual(["0"]);
    sender.frames.length = 0;
    sender.requests.suspend();
    sender.connect();
    expect(keys()).toEqual(["0"]);
    sender.answer(sender.frames[0], [{ seq: 1 }]);
    sender.clock.advance(100);
    expect(keys()).toEqual(["0", "1"]);
    sender.answer(sender.frames[1], [{ seq: 1 }]);
    sender.clock.advance(100);
    expect(keys()).toEqual(["0", "1", "2", "3", "4", "5"]);
    for (const frame of sender.frames.slice(2)) sender.answer(frame, [{ seq: 1 }]);
    sender.clock.advance(100);
    expect(keys()).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "last"]);
  });

  it("follows a write that is still being kept, and is sent at once when none waits", async () => {
    const keeping: (() => void)[] = [];
    const nothing = () => {};
    const sender = new WriteQueueFixture({
      ...{
        shown: Promise.resolve(),
        opened: Promise.resolve(),
        confirmed: nothing,
        queued: nothing,
        settled: nothing,
      },
      flush: () => true,
      stopped: () => false,
      sealed: () => new Promise((resolve) => keeping.push(resolve)),
    });
    sender.connect();
    void broadcast(sender, "before");
    expect(order(sender)).toEqual(["before"]);
    sender.put(set("a", 1));
    void broadcast(sender, "after");
    sender.put(set("a", 2));
    sender.clock.advance(16);
    await settle();
    expect(order(sender)).toEqual(["before"]);
    for (const kept of keeping) kept();
    await settle();
    expect(order(sender)).toEqual(["before", [1], "after", [2]]);
  });

  it("fails with the writes before it when there will be no other connection", async () => {
    const sender = new WriteQueueFixture();
    sender.put(set("a", 1));
    const sent = broadcast(sender, "after");
    sender.requests.stop({ code: "DISCONNECTED", module: "Client", message: "Over" });
    expect(await sent).toBe("DISCONNECTED");
  });

  it("does not hold up what only reads", () => {
    const sender = new WriteQueueFixture();
    sender.put(set("a", 1));
    void broadcast(sender, "after");
    void sender.requests.send("STORE_SYNC", {}, { read: () => {}, overtakes: true });
    sender.connect();
    expect(types(sender)).toEqual(["STORE_SYNC", "STORE_BATCH", "BROADCAST"]);
  });
});

describe("writes that wait", () => {
  it("supersede each other by key, and resolve with the result of the one that is sent", async () => {
    const sender = new WriteQueueFixture();
    const writes = sender.write(
      set("a", { x: 1 }),
      set("b", 1),
      update("a", { y: 2 }),
      update("c", { x: 1 }),
      update("c", { y: 2 }),
      remove("b"),
      remove("d"),
      update("d", { x: 1 }),
      set("e", 1),
      set("e", 2),
      set("f", [1]),
      update("f", { x: 1 }),
    );
    sender.connect();
    expect(sender.sent).toEqual([
      [
        'set a {"x":1,"y":2}',
        "delete b",
        'update c {"x":1,"y":2}',
        'set d {"x":1}',
        "set e 2",
        "set f [1]",
        'update f {"x":1}',
      ],
    ]);
    expect(sender.frames[0]?.data.atomic).toBe(false);
    const results = Array.from({ length: 6 }, (_, index) => ({ version: index + 1, seq: index + 1 }));
    sender.answer(sender.frames[0], [...results, { error }]);
    const outcomes = await Promise.allSettled(writes);
    const seqs = outcomes.map((each) => (each.status === "fulfilled" ? each.value.seq : each.reason.code));
    expect(seqs).toEqual([1, 2, 1, 3, 3, 2, 4, 4, 5, 5, 6, "CONFLICT"]);
    expect(sender.refused).toEqual([{ x: 1 }]);
  });

  it("keep apart from conditional writes and explicit batches, which stay as they are", () => {
    const sender = new WriteQueueFixture();
    sender.put(set("a", 1), set("a", 2, 0), set("a", 3));
    sender.queue.addBatch(sender.store, [set("a", 4), set("a", 5)]);
    sender.put(set("a", 6), set("b", 1), set("a", 7));
    sender.connect();
    for (let index = 0; index < 2; index += 1)
      sender.answer(sender.frames[index], Array(3).fill({ version: 1, seq: 1 }));
    expect(sender.sent).toEqual([
      ["set a 1", "set a 2", "set a 3"],
      ["set a 4", "set a 5"],
      ["set a 7", "set b 1"],
    ]);
    expect(sender.frames.map(({ data }) => data.atomic)).toEqual([false, true, false]);
  });

  it("of the same key in different stores do not supersede each other", () => {
    const sender = new WriteQueueFixture();
    for (const name of ["1", "1 1", "11"]) sender.queue.add({ ...sender.store, name }, set("1 1", name));
    sender.connect();
    expect(sender.sent).toEqual([['set 1 1 "1"', 'set 1 1 "1 1"', 'set 1 1 "11"']]);
  });
});

describe("batches", () => {
  it("contain what one turn has written: at most 4 KiB at first, then 500 writes and 128 KiB", async () => {
    const sender = new WriteQueueFixture();
    sender.connect();
    sender.put(...Array.from({ length: 1_100 }, (_, index) => set(`${index}`, index)));
    sender.put(set("long", "a".repeat(100 * 1024)), set("longer", "a".repeat(100 * 1024)));
    expect(sender.frames).toEqual([]);
    await settle();
    for (let index = 0; index < 4; index += 1)
      sender.answer(sender.frames[index], Array(500).fill({ version: 1, seq: 1 }));
    expect(sender.frames.map(({ data }) => data.operations.length)).toEqual([70, 500, 500, 31, 1]);
  });

  it("are few while responses take long, so that a key that is written often is sent every 16 ms at most", async () => {
    const sender = new WriteQueueFixture();
    sender.connect();
    const counts: number[] = [];
    for (let at = 0; at < 1_000; at += 4) {
      sender.put(...Array.from({ length: 20 }, (_, index) => set(`${index}`, at)));
      await settle();
      sender.clock.advance(4);
      counts.push(sender.frames.length);
    }
    expect(counts.slice(0, 9)).toEqual([1, 1, 1, 2, 2, 2, 2, 3, 3]);
    expect(sender.frames).toHaveLength(8);
    sender.answer(sender.frames[0], Array(20).fill({ version: 1, seq: 1 }));
    expect(sender.sent.at(-1)?.at(-1)).toBe("set 19 996");
    expect(sender.clock.waiting).toBe(0);
  });

  it("are sent again under their ids after a reconnection, before what was written meanwhile", () => {
    const sender = new WriteQueueFixture();
    sender.put(set("a", 1));
    sender.connect();
    sender.requests.suspend();
    sender.put(set("a", 2), set("a", 3));
    sender.connect();
    sender.clock.advance(16);
    expect(sender.sent).toEqual([["set a 1"], ["set a 1"], ["set a 3"]]);
    expect(sender.frames[1]?.requestId).toBe(sender.frames[0]?.requestId);
    expect(sender.frames[2]?.requestId).not.toBe(sender.frames[0]?.requestId);
  });

  it("begin with writes that were kept, however many they are", async () => {
    const sender = new WriteQueueFixture();
    sender.put(set("own", 1));
    const kept = Array.from({ length: 200_000 }, (_, index): QueuedWrite => {
      const write = { ...set(`${index}`, index), target: sender.store, group: null };
      return { ...write, requestsAfter: [], settled: [] };
    });
    sender.queue.restore([], kept);
    sender.connect();
    expect(sender.sent[0]?.slice(0, 2)).toEqual(["set 0 0", "set 1 1"]);
  });

  it("have no update that was merged beyond what a value may have, so that the others are stored", async () => {
    const sender = new WriteQueueFixture();
    const field = "a".repeat(10_000);
    const writes = sender.write(
      ...Array.from({ length: 30 }, (_, index) => update("a", { [index]: field })),
      set("b", { first: "a".repeat(150_000) }),
      update("b", { second: "a".repeat(150_000) }),
      update("b", { second: "small" }),
    );
    sender.connect();
    for (let index = 0; index < sender.frames.length; index += 1) {
      const { operations = [] } = sender.frames[index]?.data ?? {};
      sender.answer(sender.frames[index], Array(operations.length).fill({ version: 1, seq: 1 }));
      sender.clock.advance(16);
    }
    const values = sender.frames.flatMap(({ data }) => data.operations.map(({ value }) => Object(value)));
    expect(values.map((value) => Object.keys(value).length)).toEqual([19, 11, 1, 1]);
    expect(values.at(-1)).toEqual({ second: "small" });
    await Promise.all(writes);
    expect(() => sender.write(set("a", "a".repeat(256 * 1024)))).toThrow(/at most 262144 bytes/);
  });
});

describe("an uplink", () => {
  /**
   * Writes 100 entries of 0.5 kB 20 times a second for 5 s. Returns how long the last of them takes to be answered, and
   * the share of the time in which the link was used.
   */
  async function write(sender: WriteQueueFixture, bytesPerSecond: number, roundTripMs: number) {
    const { clock } = sender;
    const arrived: Record<string, unknown>[] = [];
    let [freeAt, usedMs] = [clock.now(), 0];
    sender.connect((text) => {
      const frame: Frame = JSON.parse(text);
      const takesMs = (text.length * 1_000) / bytesPerSecond;
      usedMs += takesMs;
      freeAt = Math.max(freeAt, clock.now()) + takesMs;
      clock.after(freeAt - clock.now() + roundTripMs, () => {
        arrived.push(...frame.data.operations);
        sender.answer(frame, Array(frame.data.operations.length).fill({ version: 1, seq: 1 }));
      });
    });
    const turns = 100;
    const text = "a".repeat(450);
    for (let turn = 0; turn < turns; turn += 1) {
      sender.put(...Array.from({ length: 100 }, (_, key) => set(`${key}`, { turn, text })));
      await settle();
      clock.advance(50);
    }
    const writtenAt = clock.now() - 50;
    const used = (usedMs - Math.max(freeAt - clock.now(), 0)) / clock.now();
    while (sender.queue.hasUnsynced) clock.advance(10);
    const latest = new Map(arrived.map(({ key, value }) => [key, Object(value).turn]));
    expect([latest.size, new Set(latest.values())]).toEqual([100, new Set([turns - 1])]);
    return { used, lateMs: clock.now() - writtenAt };
  }

  it.each([
    [50, 20, 1_500, 0.95],
    [50, 600, 2_200, 0.8],
    [500, 300, 800, 0.8],
    [20_000, 100, 150, 0.05],
  ])(
    "of %i kB/s and %i ms delays the last writes by %i ms at most",
    async (rate, roundTripMs, most, least) => {
      const { lateMs, used } = await write(new WriteQueueFixture(), rate * 1_000, roundTripMs);
      expect(lateMs).toBeLessThan(most);
      expect(used).toBeGreaterThan(least);
    },
  );
});

describe("unsynced changes", () => {
  it("are reported from the first write until the last response, which ends a flush", async () => {
    const sender = new WriteQueueFixture();
    const reports: boolean[] = [];
    sender.queue.on("unsyncedChanges", (hasUnsynced) => reports.push(hasUnsynced));
    await sender.unsynced.flush();
    const [first] = sender.write(set("a", 1), set("b", 1));
    expect([sender.queue.hasUnsynced, reports]).toEqual([true, [true]]);
    const flushed = sender.unsynced.flush(1_000);
    sender.connect();
    sender.answer(sender.frames[0], [{ error }, { version: 1, seq: 1 }]);
    await flushed;
    await expect(first).rejects.toMatchObject({ code: "CONFLICT" });
    expect([sender.queue.hasUnsynced, reports, sender.clock.waiting]).toEqual([false, [true, false], 0]);
  });

  it("end a flush with TIMEOUT while no response arrives", async () => {
    const sender = new WriteQueueFixture();
    sender.put(set("a", 1));
    const flushed = expect(sender.unsynced.flush(1_000)).rejects.toMatchObject({ code: "TIMEOUT" });
    sender.clock.advance(1_000);
    await flushed;
    expect(sender.queue.hasUnsynced).toBe(true);
  });

  it("are discarded by the end of the connection, and named", async () => {
    const sender = new WriteQueueFixture();
    const discarded: unknown[] = [];
    sender.queue.on("changesDiscarded", ({ writes, error: { code } }) => discarded.push(code, ...writes));
    const writes = sender.write(set("a", 1));
    sender.connect();
    writes.push(...sender.write(update("a", { x: 1 }), remove("b")));
    const flushed = expect(sender.unsynced.flush()).rejects.toMatchObject({ code: "DISCONNECTED" });
    sender.requests.stop({ code: "DISCONNECTED", module: "Client", message: "disconnect() was called" });
    await flushed;
    for (const write of writes) await expect(write).rejects.toMatchObject({ code: "DISCONNECTED" });
    expect(discarded).toEqual([
      "DISCONNECTED",
      { store: "notes", key: "a", action: "set", value: 1 },
      { store: "notes", key: "a", action: "update", value: { x: 1 } },
      { store: "notes", key: "b", action: "delete", value: null },
    ]);
    expect(() => sender.write(set("a", 1))).toThrow("Call join() first");
  });
});

describe("what is sent in the same turn as a write", () => {
  it("follows it, also in the time between two batches", async () => {
    const sender = new WriteQueueFixture();
    sender.connect();
    const say = (): void => {
      sender.requests.send("BROADCAST", {}, { read: () => {} }).catch(() => {});
    };
    sender.put(set("a", 1));
    say();
    sender.put(set("a", 2));
    say();
    await settle();
    expect(types(sender)).toEqual(["STORE_BATCH", "BROADCAST", "STORE_BATCH", "BROADCAST"]);
    expect(sender.frames.flatMap(({ data }) => data.operations ?? []).map(({ value }) => value)).toEqual([
      1, 2,
    ]);
  });

  it("does not make the queue send more than the service should have unanswered", async () => {
    const sender = new WriteQueueFixture();
    sender.connect();
    for (let write = 0; write < 20; write += 1) {
      sender.put(set("a", write));
      sender.requests.send("BROADCAST", {}, { read: () => {} }).catch(() => {});
    }
    await settle();
    expect(types(sender).filter((type) => type === "STORE_BATCH")).toHaveLength(8);
  });
});

it("a page that is closed with unsynced changes asks first, in the way of old browsers too, if it should", async () => {
  for (const warn of [true, false]) {
    const sender = new WriteQueueFixture();
    const page = new EventTarget();
    const listen: Runtime["listen"] = (event, action) => {
      page.addEventListener(event, action);
      return () => page.removeEventListener(event, action);
    };
    watchPageClose(
      sender.queue,
      sender.queue,
      { ...DEFAULT_RUNTIME, listen },
      { destination: () => null, warn },
    );
    const close = (): readonly unknown[] => {
      const event = new Event("beforeunload", { cancelable: true });
      // Browsers ask for any text that is not empty.
      Object.defineProperty(event, "returnValue", { value: "", writable: true });
      page.dispatchEvent(event);
      return [event.defaultPrevented, Boolean(event.returnValue)];
    };
    expect(close()).toEqual([false, false]);
    sender.put(set("a", 1));
    expect(close()).toEqual([warn, warn]);
    sender.connect();
    await settle();
    sender.answer(sender.frames[0], [{ version: 1, seq: 1 }]);
    expect(close()).toEqual([false, false]);
  }
});
