/** Events are recorded in the transaction of their change, and completely. */

import type { SessionClosedEvent } from "@atrium/contract/resources/events.ts";
import { expect } from "vitest";
import { Sessions } from "../../../../src/room/engine/participants/sessions.ts";
import { openSession, ROOM } from "../../support/rows.ts";
import { test } from "../../support/with-storage.ts";

test("a join that fails between its events leaves none of them", ({ storage }) => {
  let ids = 0;
  const sessions = new Sessions({
    storage,
    newId: () => {
      ids += 1;
      if (ids === 3) throw new Error("on purpose");
      return `id ${ids}`;
    },
  });
  expect(() => sessions.start(ROOM, openSession("ada"))).toThrow("on purpose");
  expect(storage.events.list(9)).toEqual([]);
  expect([sessions.record, sessions.open(), storage.readRecord(), storage.occupancy.readRoom()]).toEqual([
    null,
    [],
    null,
    null,
  ]);
  sessions.start(ROOM, openSession("ada"));
  expect(storage.events.list(9).map(({ event }) => event)).toEqual(["session.started", "participant.joined"]);
});

test("session.closed lists the users in the order of their first joins, as many as fit", ({ storage }) => {
  const sessions = new Sessions({ storage, newId: () => crypto.randomUUID() });
  const ids = Array.from({ length: 300 }, (_, index) => `user ${index}`);
  for (const id of ids) sessions.start(ROOM, openSession(id, { name: "x".repeat(1_000), joinedAt: 1 }));
  sessions.end(ids, 2);
  const closed = storage.events.list(1_000).at(-1);
  const { users } = JSON.parse(closed?.body ?? "") as SessionClosedEvent;
  expect(users.map(({ id }) => id)).toEqual(ids.slice(0, users.length));
  expect(users.length).toBeGreaterThan(100);
  expect(JSON.stringify(users).length).toBeLessThan(128 * 1024 + 300);
});

// Two hundred rows of several events each were more than a call takes: the outbox was never passed on again.
test("large events are listed as few at a time as a call takes, and all of them in the end", ({
  storage,
}) => {
  const body = JSON.stringify("x".repeat(120_000));
  for (let row = 0; row < 100; row += 1)
    storage.transaction(() => {
      for (const id of [`${row} first`, `${row} second`])
        storage.events.append({ id, event: "comment.deleted", occurredAt: 1, body });
    });
  const sizes: number[] = [];
  for (let events = storage.events.list(200); events.length > 0; events = storage.events.list(200)) {
    sizes.push(events.length);
    for (const { seq } of events) storage.events.delete(seq);
  }
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(200);
  expect(Math.max(...sizes) * body.length).toBeLessThan(5 * 1024 * 1024);
});
