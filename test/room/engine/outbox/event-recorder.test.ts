/** Events are recorded in the transaction of what they report, and completely. */
import { expect } from "vitest";
import { MAX_USERS_CHARACTERS } from "../../../../src/room/engine/outbox/room-events.ts";
import { Sessions } from "../../../../src/room/engine/participants/sessions.ts";
import type { SessionClosedEvent } from "../../../../src/wire/events.ts";
import { ROOM } from "../../support/rows.ts";
import { test } from "../../support/with-storage.ts";

const sessionOf = (userId: string, name = "Ada") => ({
  id: `session of ${userId}`,
  joinedAt: 1,
  user: {
    id: userId,
    accountId: "account",
    roomId: "room",
    name,
    profilePicture: null,
    customId: null,
    role: "editor" as const,
    createdAt: 0,
  },
});

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
  expect(() => sessions.start(ROOM, sessionOf("ada"))).toThrow("on purpose");
  expect(storage.events.list(9)).toEqual([]);
  expect([sessions.record, sessions.open(), storage.readRecord(), storage.occupancy.readId()]).toEqual([
    null,
    [],
    null,
    null,
  ]);
  sessions.start(ROOM, sessionOf("ada"));
  expect(storage.events.list(9).map(({ event }) => event)).toEqual(["session.started", "participant.joined"]);
});

test("session.closed lists the users in the order of their first joins, as many as fit", ({ storage }) => {
  const sessions = new Sessions({ storage, newId: () => crypto.randomUUID() });
  const ids = Array.from({ length: 300 }, (_, index) => `user ${index}`);
  for (const id of ids) sessions.start(ROOM, sessionOf(id, "x".repeat(1_000)));
  sessions.end(ids, 2);
  const closed = storage.events.list(1_000).at(-1);
  const { users } = JSON.parse(closed?.body ?? "") as SessionClosedEvent;
  expect(users.map(({ id }) => id)).toEqual(ids.slice(0, users.length));
  expect(users.length).toBeGreaterThan(100);
  expect(JSON.stringify(users).length).toBeLessThan(MAX_USERS_CHARACTERS + 300);
});
