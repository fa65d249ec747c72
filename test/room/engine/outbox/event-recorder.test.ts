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
