/** One shard of an event log: appends each event once, reads from a cursor or a time, and prunes old events. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { ERASED_FIELDS } from "@atrium/contract/resources/user.ts";
import { HOUR_MS } from "@atrium/contract/time.ts";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { EventLogObject } from "../../src/delivery/event-log/event-log-object.ts";
import { EventLogStore } from "../../src/delivery/event-log/event-log-store.ts";
import type { LoggedEvent, LogQuery, LogSlice } from "../../src/delivery/event-log/log-page.ts";
import {
  eraseFromLog,
  openEventLogs,
  readHours,
  removeLog,
  shardOf,
} from "../../src/delivery/event-log/shards.ts";
import type { OutgoingEvent } from "../../src/delivery/outbox/subscription.ts";
import { toAppError } from "../../src/http/envelope.ts";
import { archivedObject } from "../../src/platform/objects/object-archive.ts";
import { collectSlices, restoreSlices } from "../support/archive.ts";
import { planIn } from "../support/plan-guard.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** Far ahead of the real time, so that no alarm ever fires unless a test runs it. */
const START = Date.UTC(2100, 0, 1);
const ALL: LogQuery = { after: null, from: null, until: null, roomId: null, names: null, limit: 1_000 };

const eventOf = (number: number, fields: Partial<OutgoingEvent> = {}): OutgoingEvent => ({
  eventId: crypto.randomUUID(),
  event: "user.created",
  roomId: "room",
  body: `${number}`,
  occurredAt: START,
  ...fields,
});
const numbered = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) => eventOf(first + index));

class Shard {
  readonly stub = env.EVENT_LOGS.getByName(crypto.randomUUID());
  now = START;

  inside<T>(work: (object: EventLogObject, state: DurableObjectState) => T | Promise<T>): Promise<T> {
    return runInDurableObject(this.stub, (object: EventLogObject, state) => {
      object.clock = () => this.now;
      return work(object, state);
    });
  }

  append(...events: OutgoingEvent[]): Promise<void> {
    return this.inside((object) => object.append(events));
  }

  read(query: Partial<LogQuery> = {}): Promise<LogSlice> {
    return this.inside((object) => object.read({ ...ALL, ...query }));
  }

  async events(query: Partial<LogQuery> = {}): Promise<LoggedEvent[]> {
    const slice = await this.read(query);
    return slice.type === "slice" ? slice.events : [];
  }

  async bodies(query: Partial<LogQuery> = {}): Promise<string[]> {
    return (await this.events(query)).map(({ body }) => body);
  }
}

describe("a shard of an event log", () => {
  let shard: Shard;
  beforeEach(() => {
    shard = new Shard();
  });

  it("knows the events that come again after many others, and after a restart", async () => {
    const [old, ...later] = numbered(12_001);
    if (old === undefined) throw new Error("There are many");
    await shard.append(old);
    shard.now += 1_000;
    for (let first = 0; first < later.length; first += 200)
      await shard.append(...later.slice(first, first + 200));
    await shard.append(old, ...later.slice(-3));
    shard.now += 600_000;
    await evictDurableObject(shard.stub);
    await shard.append(old, ...later.slice(6_000, 6_003));
    expect(await shard.read({ after: 12_001 })).toMatchObject({ events: [], position: 12_001 });
  });

  it("writes a row, and its place in the index, for the events of a room that come together", async () => {
    await shard.append(eventOf(0));
    const written = await shard.inside((_, { storage }) => {
      const exec = vi.spyOn(storage.sql, "exec");
      new EventLogStore(storage).append(numbered(3, 1), START);
      const cursors = exec.mock.results.map(({ value }) => value as SqlStorageCursor<never>);
      exec.mockRestore();
      return cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0);
    });
    expect(written).toBe(2);
    await shard.append(...numbered(2, 4));
    expect(await shard.bodies({ after: 2 })).toEqual(["2", "3", "4", "5"]);
    expect(await shard.read({ after: 2, limit: 1 })).toMatchObject({ position: 3 });
  });

  it("keeps a body as it is, whatever characters it has", async () => {
    const bodies = ["ä€😀", '","', ""];
    await shard.append(...bodies.map((body) => eventOf(0, { body })));
    expect(await shard.bodies()).toEqual(bodies);
    await shard.inside((object) => object.eraseUser("room", "bo", 0));
    await shard.append(
      eventOf(1, { body: JSON.stringify({ user: { id: "ada", name: "Ada" } }) }),
      eventOf(2),
    );
    expect(await shard.inside((object) => object.eraseUser("room", "ada", 0))).toBeNull();
    const [redacted, other] = await shard.bodies({ after: 3 });
    expect(JSON.parse(redacted ?? "")).toEqual({ user: { id: "ada", name: ERASED_FIELDS.name } });
    expect(other).toBe("2");
  });

  it("creates nothing when it is only read", async () => {
    expect(await shard.read()).toEqual({ type: "slice", events: [], position: 0, isAtEnd: true });
    const tables = await shard.inside((_, { storage }) =>
      storage.sql.exec("SELECT name FROM sqlite_master WHERE name IN ('log', 'events')").toArray(),
    );
    expect(tables).toEqual([]);
  });

  it("keeps events in the order in which it received them, each id once, also when it restarts", async () => {
    const [first, second, third] = [eventOf(1), eventOf(2), eventOf(3)];
    await shard.append(first, second);
    await evictDurableObject(shard.stub);
    await shard.append(second, third, third);
    expect(await shard.events()).toEqual(
      [first, second, third].map((event, index) => ({ ...event, seq: index + 1, loggedAt: START })),
    );
  });

  it("counts each event once in the hour in which it happened, beside runs", async () => {
    const HOUR_MS = 60 * 60 * 1000;
    const hours = (from = 0) => shard.inside((object) => object.hours(from, HOUR_MS));
    expect(await hours()).toEqual([]);
    const [first, second] = [eventOf(2, { occurredAt: START - 1 }), eventOf(3)];
    await shard.append(first, second);
    await shard.append(second);
    await shard.inside((object) => object.countRuns({ runs: 3, failedRuns: 1 }));
    const current = { hour: START, events: 1, runs: 3, failedRuns: 1 };
    expect(await hours()).toEqual([{ hour: START - HOUR_MS, events: 1, runs: 0, failedRuns: 0 }, current]);
    expect(await hours(START)).toEqual([current]);
    const fine = () => shard.inside((object) => object.hours(START - HOUR_MS, 300_000));
    expect(await fine()).toMatchObject([{ hour: START - 300_000, events: 1 }, { hour: START }]);
    shard.now += 2 * HOUR_MS;
    await shard.inside((object) => object.countRuns({ runs: 1, failedRuns: 0 }));
    expect(await hours()).toMatchObject([{ events: 1 }, current, { hour: START + 2 * HOUR_MS, runs: 1 }]);
    const before = { from: START - HOUR_MS, until: START };
    const withBefore = await shard.inside((object) => object.hours(START, HOUR_MS, before));
    expect(withBefore.slice(0, 2)).toMatchObject([{ hour: START - HOUR_MS, events: 1, runs: 0 }, current]);
    const cut = { ...before, until: START - 300_000 };
    expect(await shard.inside((object) => object.hours(START, HOUR_MS, cut))).toMatchObject([
      current,
      { runs: 1 },
    ]);
    const days = await shard.inside((object) => object.hours(0, DAY_MS));
    expect(days).toMatchObject([{ events: 1 }, { hour: START, events: 1, runs: 4, failedRuns: 1 }]);
  });

  it("counts many events in one row, with those of the latest batch, and keeps two months of counts", async () => {
    const old = START - 63 * DAY_MS;
    const spans = () => shard.inside((object) => object.hours(0, 300_000));
    await shard.append(eventOf(0, { occurredAt: old }), ...numbered(10, 1));
    const counted = () => shard.inside((_, { storage }) => storage.sql.exec("SELECT * FROM spans").toArray());
    expect(await counted()).toEqual([]);
    expect(await spans()).toMatchObject([
      { hour: old, events: 1 },
      { hour: START, events: 10 },
    ]);
    await shard.append(...numbered(60, 11));
    await shard.append(...numbered(5, 71));
    expect(await counted()).toEqual([{ at: START, events: 70, runs: 0, failed_runs: 0 }]);
    expect(await spans()).toMatchObject([{ hour: START, events: 75 }]);
  });

  it("numbers events without a gap, even if its clock is set back", async () => {
    await shard.append(eventOf(1));
    shard.now -= DAY_MS;
    await shard.append(eventOf(2));
    shard.now += 2 * DAY_MS;
    await shard.append(eventOf(3));
    const times = (await shard.events()).map(({ seq, loggedAt }) => [seq, loggedAt - START]);
    expect(times).toEqual([
      [1, 0],
      [2, 0],
      [3, DAY_MS],
    ]);
  });

  it("reads on behind a position, and knows when it is at the end", async () => {
    await shard.append(...numbered(5));
    const first = await shard.read({ limit: 3 });
    expect(first).toMatchObject({ position: 3, isAtEnd: false });
    expect(await shard.read({ after: 3, limit: 2 })).toMatchObject({ position: 5, isAtEnd: true });
    expect(await shard.bodies({ after: 3 })).toEqual(["3", "4"]);
    expect(await shard.read({ after: 5 })).toEqual({
      type: "slice",
      events: [],
      position: 5,
      isAtEnd: true,
    });
  });

  it("reads one room, and events by their names", async () => {
    const other = { roomId: "other" };
    await shard.append(
      eventOf(1),
      eventOf(2, other),
      eventOf(3, { event: "comment.created" }),
      eventOf(4, { ...other, event: "user.deleted" }),
    );
    expect(await shard.bodies({ roomId: "other" })).toEqual(["2", "4"]);
    expect(await shard.bodies({ names: ["comment.created", "user.deleted"] })).toEqual(["3", "4"]);
    expect(await shard.read({ roomId: "room", names: ["user.deleted"] })).toEqual({
      type: "slice",
      events: [],
      position: 4,
      isAtEnd: true,
    });
  });

  it("reads from a time on", async () => {
    for (const number of [0, 1, 2, 3, 4]) {
      await shard.append(eventOf(number), eventOf(number));
      shard.now += 10;
    }
    const from = async (ms: number) => (await shard.bodies({ from: START + ms })).join("");
    expect(await from(-5)).toBe("0011223344");
    expect(await from(20)).toBe("223344");
    expect(await from(21)).toBe("3344");
    expect(await from(100)).toBe("");
    expect(await shard.read({ after: 1, until: START + 10 })).toMatchObject({ position: 4, isAtEnd: true });
    expect(await shard.bodies({ from: START + 5, until: START + 25 })).toEqual(["1", "1", "2", "2"]);
  });

  it("ends a read before it has more than 1 MiB", async () => {
    const body = "x".repeat(700_000);
    await shard.append(eventOf(1, { body }), eventOf(2, { body }));
    const slice = await shard.read();
    expect(slice).toMatchObject({ position: 1, isAtEnd: false });
    expect(await shard.events({ after: 1 })).toHaveLength(1);
  });

  it("deletes what is older than 30 days, a slice at a time, and says which cursors are too old", async () => {
    for (const event of numbered(700)) await shard.append(event);
    shard.now += 20 * DAY_MS;
    await shard.append(...numbered(2, 700));
    expect(await shard.read({ after: 0, limit: 1 })).toMatchObject({ type: "slice" });
    shard.now += 11 * DAY_MS;
    expect(await runDurableObjectAlarm(shard.stub)).toBe(true);
    expect(await shard.read({ after: 499 })).toEqual({ type: "pruned", oldestAt: START });
    expect(await runDurableObjectAlarm(shard.stub)).toBe(true);
    expect(await shard.bodies()).toEqual(["700", "701"]);
    expect(await shard.read({ after: 699 })).toEqual({ type: "pruned", oldestAt: START + 20 * DAY_MS });
    expect(await shard.bodies({ after: 700 })).toEqual(["700", "701"]);
    shard.now += 20 * DAY_MS;
    expect(await runDurableObjectAlarm(shard.stub)).toBe(true);
    expect(await shard.read()).toEqual({ type: "slice", events: [], position: 702, isAtEnd: true });
    expect(await runDurableObjectAlarm(shard.stub)).toBe(false);
    await shard.append(eventOf(702));
    expect(await shard.events({ after: 702 })).toMatchObject([{ seq: 703, body: "702" }]);
  });

  it("deletes the oldest before their time when it has too many bytes", async () => {
    await shard.inside((object) => {
      object.limits = { ...object.limits, maxBytes: 200_000 };
      for (const event of numbered(2_000)) object.append([event]);
    });
    while (await shard.inside((_, { storage }) => storage.getAlarm().then((at) => at === shard.now)))
      await runDurableObjectAlarm(shard.stub);
    const bytes = await shard.inside((_, { storage }) => new EventLogStore(storage).bytes);
    expect(bytes).toBeLessThanOrEqual(200_000);
    expect(bytes).toBeGreaterThan(199_500);
    expect(Number((await shard.bodies({ limit: 1 }))[0])).toBeGreaterThan(0);
  });

  describe("of an agent", () => {
    const OF_BOT: Partial<LogQuery> = { names: ["agent.mentioned"], mentioned: "bot" };
    const mention = (number: number, identityId: string, text = "") =>
      eventOf(number, {
        event: "agent.mentioned",
        body: JSON.stringify({ data: { identityId, number }, text }),
      });
    const numbersOf = async (query: Partial<LogQuery> = {}) =>
      (await shard.bodies({ ...OF_BOT, ...query })).map((body) => JSON.parse(body).data.number);

    it("reads the mentions among all other events by an index", async () => {
      await shard.append(mention(1, "bot"));
      for (const event of numbered(3_000)) await shard.append(event);
      await shard.append(mention(2, "other"), ...numbered(3), mention(3, "bot"));
      const [numbers, rows] = await shard.inside((_, { storage }) => {
        const exec = vi.spyOn(storage.sql, "exec");
        const { events, isAtEnd } = new EventLogStore(storage).readLog({ ...ALL, ...OF_BOT }) as Extract<
          LogSlice,
          { type: "slice" }
        >;
        const read = exec.mock.results.reduce((sum, { value }) => sum + value.rowsRead, 0);
        exec.mockRestore();
        expect(isAtEnd).toBe(true);
        return [events.map(({ body }) => JSON.parse(body).data.number), read] as const;
      });
      expect(numbers).toEqual([1, 3]);
      expect(rows).toBeLessThan(30);
    });

    it("reads no more than 1 MiB of others' mentions at once", async () => {
      const text = "x".repeat(100_000);
      for (let number = 0; number < 25; number += 1) await shard.append(mention(number, "other", text));
      await shard.append(mention(25, "bot"));
      const found: number[] = [];
      let reads = 0;
      for (let after: number | null = null; ; reads += 1) {
        const slice = await shard.read({ ...OF_BOT, after });
        if (slice.type === "pruned") throw new Error("Nothing is deleted");
        found.push(...slice.events.map(({ seq }) => seq));
        after = slice.position;
        if (slice.isAtEnd) break;
      }
      expect([found, reads]).toEqual([[26], 2]);
    });

    it("goes on behind deleted events, and says which positions a restore has lost", async () => {
      await shard.append(mention(1, "bot"));
      await shard.append(...numbered(3));
      shard.now += 31 * DAY_MS;
      await shard.append(mention(2, "bot"));
      expect(await runDurableObjectAlarm(shard.stub)).toBe(true);
      expect(await shard.read({ after: 1 })).toMatchObject({ type: "pruned" });
      expect([await numbersOf({ after: 1 }), await numbersOf({ after: 0 })]).toEqual([[2], [2]]);
      expect(await shard.read({ ...OF_BOT, after: 99 })).toMatchObject({ type: "pruned" });
    });
  });

  it("refuses a position that it never gave", async () => {
    await shard.append(eventOf(1));
    expect(await shard.read({ after: 2 })).toEqual({ type: "pruned", oldestAt: START });
  });

  it("is as it was when an append fails halfway", async () => {
    await shard.append(eventOf(1));
    await shard.inside((_, { storage }) => {
      let isFull = true;
      const exec: SqlStorage["exec"] = (query, ...params) => {
        if (isFull && params[2] === "last") throw new Error("The disk is full");
        return storage.sql.exec(query, ...params);
      };
      const transactionSync = <T>(work: () => T) => storage.transactionSync(work);
      const store = new EventLogStore({ sql: { exec }, transactionSync });
      const others = ["first", "last"].map((roomId) => eventOf(2, { roomId }));
      expect(() => store.append(others, START)).toThrow("The disk is full");
      isFull = false;
      store.append([eventOf(7)], START);
    });
    await evictDurableObject(shard.stub);
    expect((await shard.events()).map(({ seq, body }) => [seq, body])).toEqual([
      [1, "1"],
      [2, "7"],
    ]);
  });

  it("finds the rows of every statement by an index", async () => {
    const plans = await shard.inside((_, { storage }) => {
      new EventLogStore(storage).append(numbered(3), START);
      const exec = vi.spyOn(storage.sql, "exec");
      const store = new EventLogStore(storage);
      store.append(numbered(3), START);
      store.readLog({ ...ALL, from: START + 1 });
      store.readLog({ ...ALL, after: 1, roomId: "room", names: ["user.created"] });
      store.readLog({ ...ALL, after: 1, names: ["agent.mentioned"], mentioned: "bot" });
      store.prune(START + 1, 0);
      const statements = new Set(exec.mock.calls.map(([query]) => query));
      exec.mockRestore();
      return [...statements].flatMap((each) => planIn(storage, each));
    });
    expect(plans.length).toBeGreaterThan(5);
    expect(
      plans.filter((step) => /^SCAN (?!log|json_each|sqlite_|CONSTANT|\(subquery)|TEMP B-TREE/.test(step)),
    ).toEqual([]);
  });
});

// The archive of an organization's event log: its shards go on while they are read, and are restored as they were.

const logs = openEventLogs(env);

const eventOfArchive = (number: number): OutgoingEvent => ({
  eventId: `event ${number}`,
  event: "user.created",
  roomId: "room",
  body: JSON.stringify({ number, name: "Zoë ✨" }),
  occurredAt: Date.now(),
});
const events = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) => eventOfArchive(first + index));

it("a shard of the log is restored with its events, their order and its counts, and goes on", async () => {
  const accountId = crypto.randomUUID();
  const shard = shardOf("room");
  for (const event of events(30)) await logs(accountId, shard).append([event]);
  await logs(accountId, shard).countRuns({ runs: 3, failedRuns: 1 });
  const object = archivedObject("Events", () => logs(accountId, shard));
  if (object === undefined) throw new Error("Each shard has an object");
  await runInDurableObject(
    env.EVENT_LOGS.getByName(`${accountId}:${shard}`),
    ({ archived }: EventLogObject) => {
      archived.reader.limits = { rows: 8, bytes: 100_000 };
    },
  );
  const slices = await collectSlices(object, async ({ length }) => {
    if (length < 3) await logs(accountId, shard).append(events(2, 30 + 2 * length));
    if (length === 3) await eraseFromLog(logs, accountId, "room", "Zoë");
  });
  expect(slices.length).toBeGreaterThan(4);
  const before = [await logs(accountId, shard).read(ALL), await readHours(logs, accountId, 0, HOUR_MS)];
  await logs(accountId, shard).append(events(1, 50));

  await removeLog(logs, accountId);
  for (const slice of slices.slice(0, 2)) await object.restore(slice);
  for (const call of [
    () => logs(accountId, shard).read(ALL),
    () => logs(accountId, shard).append(events(1, 60)),
  ]) {
    const error: unknown = await call().catch((thrown: unknown) => thrown);
    expect(toAppError(error, "Events")).toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: 5 });
  }
  await removeLog(logs, accountId); // a restore that is given up
  await restoreSlices(object, slices);
  expect([await logs(accountId, shard).read(ALL), await readHours(logs, accountId, 0, HOUR_MS)]).toEqual(
    before,
  );
  await logs(accountId, shard).append(events(1, 34));
  await logs(accountId, shard).append(events(1, 50));
  const next = { type: "slice", events: [{ eventId: "event 50" }] };
  const found = await logs(accountId, shard).read({ ...ALL, after: 34 });
  expect(found).toMatchObject(next);
  // Positions that were given after the archive was read name other events.
  const { position } = found.type === "slice" ? found : { position: 0 };
  for (const after of [35, 40, position - 2])
    expect(await logs(accountId, shard).read({ ...ALL, after })).toMatchObject({ type: "pruned" });
});

it("a restored shard finds events by their times, and drops old ones, on both sides of the numbers that it skips", async () => {
  const accountId = crypto.randomUUID();
  const shard = shardOf("room");
  const stub = env.EVENT_LOGS.getByName(`${accountId}:${shard}`);
  const at = (now: number) =>
    runInDurableObject(stub, (object: EventLogObject) => void Object.assign(object, { clock: () => now }));
  const idsOf = async (query: object) => {
    const slice = await logs(accountId, shard).read({ ...ALL, ...query });
    return slice.type === "slice" ? slice.events.map(({ eventId }) => eventId.slice("event ".length)) : slice;
  };
  await at(1_000);
  await logs(accountId, shard).append(events(2, 0));
  await at(2_000);
  await logs(accountId, shard).append(events(2, 2));
  const object = archivedObject("Events", () => logs(accountId, shard));
  const slices = await collectSlices(object);
  await removeLog(logs, accountId);
  await at(3_000);
  await restoreSlices(object, slices);
  await logs(accountId, shard).append(events(2, 4));
  expect(await idsOf({ from: 1_001 })).toEqual(["2", "3", "4", "5"]);
  expect(await idsOf({ from: 2_001 })).toEqual(["4", "5"]);
  expect(await idsOf({ from: 1_000, until: 2_000 })).toEqual(["0", "1", "2", "3"]);
  const prune = (before: number) =>
    runInDurableObject(stub, (_, { storage }) => new EventLogStore(storage).prune(before, 1_000_000));
  await prune(2_000);
  expect(await idsOf({})).toEqual(["2", "3", "4", "5"]);
  expect(await idsOf({ after: 1 })).toEqual({ type: "pruned", oldestAt: 2_000 });
  await prune(4_000);
  expect(await idsOf({})).toEqual([]);
  await logs(accountId, shard).append(events(1, 6));
  expect(await idsOf({})).toEqual(["6"]);
});

it("a shard that was empty when it was archived gives no position again", async () => {
  const accountId = crypto.randomUUID();
  const shard = shardOf("room");
  const object = archivedObject("Events", () => logs(accountId, shard));
  const slices = await collectSlices(object);
  await logs(accountId, shard).append(events(3));
  await removeLog(logs, accountId);
  await restoreSlices(object, slices);
  await logs(accountId, shard).append(events(5, 10));
  expect(await logs(accountId, shard).read({ ...ALL, after: 3 })).toMatchObject({ type: "pruned" });
});
