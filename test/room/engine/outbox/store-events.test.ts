/** The changes of stores are reported together, each once, while a subscriber listens. */

import type { StoreEvent } from "@atrium/contract/resources/events.ts";
import type { EventCause } from "@atrium/contract/resources/present-event.ts";
import { expect } from "vitest";
import { Changes } from "../../../../src/room/engine/content/changes.ts";
import { StoreEvents } from "../../../../src/room/engine/outbox/delayed-events.ts";
import type { SqliteStorage } from "../../../../src/room/storage/storage.ts";
import { eventPorts, roomPorts } from "../../support/room-ports.ts";
import { ROOM } from "../../support/rows.ts";
import { test } from "../../support/with-storage.ts";

let now: number;
/** How often the alarm was planned. */
let planned: number;
let storage: SqliteStorage;
let changes: Changes;
let events: StoreEvents;

/** A test of a room that has just begun. */
const it = (title: string, work: () => unknown) =>
  test(title, (tables) => {
    storage = tables.storage;
    now = 1_000_000;
    planned = 0;
    const planAlarm = () => {
      planned += 1;
    };
    const ports = roomPorts({ storage, now: () => now, planAlarm });
    changes = new Changes(ports);
    events = new StoreEvents(eventPorts(ports));
    events.offerRow(ROOM);
    return work();
  });

/** One change of each of these stores, in one transaction. */
const change = (...stores: string[]) =>
  changes.transaction(() => {
    const fromSeq = changes.lastSeq + 1;
    for (const _ of stores) changes.append("storeChanged", () => ({}));
    events.note(stores, fromSeq);
  });

const report = (isHeard: () => Promise<boolean> | boolean) =>
  events.report(
    async () => isHeard(),
    async () => {},
  );

/** Recorded events, as store and range. */
const recorded = () =>
  storage.events.list(99).map(({ body }) => {
    const { store, fromSeq, toSeq } = (JSON.parse(body) as StoreEvent).data;
    return [store, fromSeq, toSeq];
  });

it("all changes within the interval are one event of each store", async () => {
  change("a");
  now += 5_000 - 1;
  change("b", "a");
  await report(() => true);
  expect([recorded(), events.dueAt()]).toEqual([[], now + 1]);
  now += 1;
  await report(() => true);
  const first = [
    ["a", 1, 3],
    ["b", 2, 3],
  ];
  expect([recorded(), events.dueAt()]).toEqual([first, null]);
  change("a");
  expect(events.dueAt()).toBe(now + 5_000);
  now += 5_000;
  await report(() => true);
  expect(recorded()).toEqual([...first, ["a", 4, 4]]);
});

it("changes that workflows alone have made have the lowest depth of these, all others none", async () => {
  let cause: EventCause | null = null;
  events = new StoreEvents(eventPorts({ storage, now: () => now, cause: () => cause }));
  events.offerRow(ROOM);
  for (const depth of [3, 2, 4]) {
    cause = { workflowId: `w${depth}`, depth };
    change("a", "b");
  }
  cause = null;
  change("b", "c");
  cause = { workflowId: "w1", depth: 1 };
  change("c");
  now += 5_000;
  await report(() => true);
  const [a, b, c] = storage.events.list(3).map(({ body }) => JSON.parse(body));
  expect(a).toMatchObject({ data: { store: "a" }, depth: 2, workflowId: "w2" });
  for (const event of [b, c])
    expect(Object.keys(event)).toEqual(["id", "event", "timestamp", "data", "room"]);
});

it("while no subscriber listens nothing is recorded, and the room looks for one once a minute", async () => {
  change("a");
  now += 5_000;
  await report(() => false);
  expect([recorded(), events.dueAt()]).toEqual([[], null]);
  change("a");
  expect(events.dueAt()).toBe(now + 60_000);
  now += 60_000;
  await report(() => true);
  change("a");
  expect([recorded(), events.dueAt()]).toEqual([[["a", 2, 2]], now + 5_000]);
});

it("what changes while the room looks for subscribers is reported, whatever the answer", async () => {
  change("a");
  now += 5_000;
  await report(() => {
    change("a");
    return false;
  });
  expect(events.dueAt()).toBe(now + 60_000);
  now += 60_000;
  await report(() => {
    change("b");
    return true;
  });
  expect(recorded()).toEqual([
    ["a", 1, 3],
    ["b", 3, 3],
  ]);
});

it("what waits outlives the object, and a failure of the database", async () => {
  change("a");
  events = new StoreEvents(eventPorts({ storage, now: () => now }));
  expect(events.dueAt()).toBe(now);
  await expect(report(() => Promise.reject(new Error("on purpose")))).rejects.toThrow("on purpose");
  expect([recorded(), events.dueAt()]).toEqual([[], now + 5_000]);
  now += 5_000;
  await report(() => true);
  expect(recorded()).toEqual([["a", 1, 1]]);
});

it("changes that are undone are not reported", async () => {
  const undone = () =>
    changes.transaction(() => {
      change("a");
      throw new Error("on purpose");
    });
  expect(undone).toThrow("on purpose");
  now += 5_000;
  await report(() => true);
  expect([recorded(), events.dueAt(), storage.occupancy.readRoom()]).toEqual([[], null, null]);
});

it("the alarm is to be planned for the first change, and not for those that join it", () => {
  change("a");
  expect(planned).toBe(1);
  change("a", "b");
  expect(planned).toBe(1);
});
