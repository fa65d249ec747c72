/** Rows that a visit and its events cost: in the room, the event log and the queue of a webhook, alarms included. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, onTestFinished, vi } from "vitest";
import { shardOf } from "../../src/delivery/event-log/shards.ts";
import { HELD_MS } from "../../src/delivery/subscriber/attempts.ts";
import { TestRoom } from "../room/support/rooms.ts";
import { account } from "../support/api.ts";
import { RecordingSubscriber } from "./recording-subscriber.ts";
import { START, TestQueue } from "./test-queue.ts";

/** The rows written since the last call of {@link Meter.take}, by object and table. */
class Meter {
  readonly #rows = new Map<string, number>();

  watch(name: string, { storage }: DurableObjectState): void {
    const { sql } = storage;
    const add = (what: string, count: number) =>
      this.#rows.set(`${name} ${what}`, (this.#rows.get(`${name} ${what}`) ?? 0) + count);
    const exec = sql.exec.bind(sql);
    vi.spyOn(sql, "exec").mockImplementation((query, ...values) => {
      const cursor = exec<never>(query, ...values);
      const [verb, table] =
        /^\s*(INSERT|UPDATE|DELETE)(?: OR \w+)?(?: INTO| FROM)? (\w+)/.exec(query)?.slice(1) ?? [];
      queueMicrotask(() => {
        if (cursor.rowsWritten > 0) add(`${table} ${verb}`, cursor.rowsWritten);
      });
      return cursor;
    });
    const setAlarm = storage.setAlarm.bind(storage);
    vi.spyOn(storage, "setAlarm").mockImplementation((time, options) => {
      add("alarm", 1);
      return setAlarm(time, options);
    });
  }

  /** The rows of an object, by table and verb. */
  rowsOf(object: string): Readonly<Record<string, number>> {
    const ofObject = [...this.#rows].filter(([what]) => what.startsWith(`${object} `));
    return Object.fromEntries(ofObject.map(([what, count]) => [what.slice(object.length + 1), count]));
  }
}

async function fixture() {
  const owner = await account();
  const { id } = await owner.api.createRoom({ name: "Room" });
  const room = new TestRoom(owner.id, id);
  const user = await room.user();
  const subscriber = await RecordingSubscriber.create(owner.api, {
    events: ["session.started", "session.closed", "participant.joined", "participant.left"],
  });
  const queue = new TestQueue({ kind: "webhook", accountId: owner.id, id: subscriber.webhook.id });
  const log = env.EVENT_LOGS.getByName(`${owner.id}:${shardOf(id)}`);
  const meter = new Meter();
  let events = 0;
  const settle = async (added: number): Promise<void> => {
    events += added;
    await expect.poll(() => subscriber.received()).toHaveLength(events);
    const rowsOf = (query: string, { storage }: DurableObjectState) =>
      storage.sql.exec(query).toArray().length;
    await expect.poll(() => room.inside((_, state) => rowsOf("SELECT 1 FROM events", state))).toBe(0);
    const pending = "SELECT 1 FROM deliveries WHERE status = 'pending'";
    await expect.poll(() => queue.inside((_, state) => rowsOf(pending, state))).toBe(0);
  };
  /** Runs the alarms that fire soon, as often as they do. */
  const alarms = async () => {
    for (const object of [room, queue])
      for (
        let at = await object.alarmAt();
        at !== null && at <= object.now + 6_000;
        at = await object.alarmAt()
      )
        await object.advance(Math.max(0, at - object.now));
  };
  const visit = async (): Promise<void> => {
    const socket = await room.join(user);
    await settle(2);
    await alarms();
    socket.send({ type: "LEAVE_ROOM" });
    await socket.closed;
    await settle(2);
    await alarms();
  };
  await queue.inside(() => undefined);
  await visit();
  await room.inside((_, state) => meter.watch("room", state));
  await queue.inside((_, state) => meter.watch("queue", state));
  await runInDurableObject(log, (object, state) => {
    object.clock = () => START;
    meter.watch("log", state);
  });
  return { meter, visit };
}

/** Has the room wait for its receiver, which answers at once, however busy the machine is. */
function waitForReceivers(): void {
  const set = setTimeout;
  const timers = vi
    .spyOn(globalThis, "setTimeout")
    .mockImplementation(((run: () => void, ms?: number) =>
      set(run, ms === HELD_MS ? 1_000 * HELD_MS : ms)) as typeof setTimeout);
  onTestFinished(() => timers.mockRestore());
}

it("a visit writes few rows, with its four events in the log and the queue of a webhook", async () => {
  waitForReceivers();
  const { meter, visit } = await fixture();
  await visit();
  expect(meter.rowsOf("room")).toEqual({
    "room INSERT": 5,
    "sessions INSERT": 3,
    "sessions UPDATE": 1,
    "participants INSERT": 1,
    "participants DELETE": 1,
    "facts INSERT": 1,
    "events INSERT": 2,
    "events DELETE": 2,
    alarm: 4,
  });
  expect(meter.rowsOf("log")).toEqual({ "events INSERT": 4 });
  expect(meter.rowsOf("queue")).toEqual({ "deliveries INSERT": 12 });
});
