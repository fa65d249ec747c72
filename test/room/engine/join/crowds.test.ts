/** R11, R69 and R84: a room with a thousand users online answers a join, and each page of them, with a bounded part. */

import type { User } from "@atrium/contract/resources/user.ts";
import { describe, expect, it } from "vitest";
import { failed, makeRoom, seedOnline } from "../../support/rooms.ts";

const CROWD = 1_000;

async function crowdedRoom() {
  const room = await makeRoom();
  const [ada, ben] = [await room.user(), await room.user({ name: "Ben" })];
  (await room.join(ada)).close();
  await room.alarm();
  await seedOnline(room, CROWD);
  return { room, ada, ben };
}

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

describe("in a room with 1,000 users online", () => {
  it("a join answers a page of them, of at most 64 KiB, and how many they are (R11)", async () => {
    const { room, ada } = await crowdedRoom();
    const { joined } = await room.join(ada, undefined, { usersLimit: 200 });
    const { users, next, user } = joined;
    expect(joined.room.active_participants).toBe(CROWD + 1);
    expect(bytesOf(joined)).toBeLessThan(70 * 1024);
    expect(users[0]).toEqual(user);
    expect(users.length).toBeGreaterThan(100);
    expect(users.length).toBeLessThanOrEqual(201);
    expect(next).toEqual({ joined_at: users.at(-1)?.joined_at, id: users.at(-1)?.id });
  });

  it("a client of an earlier version is answered with all of them (R11)", async () => {
    const { room, ada } = await crowdedRoom();
    const { joined } = await room.join(ada);
    expect(joined.users).toHaveLength(CROWD + 1);
    expect(joined).not.toHaveProperty("next");
  });

  it("pages name everyone once, and events who comes and goes between them (R84)", async () => {
    const { room, ada, ben } = await crowdedRoom();
    const atAda = await room.join(ada, undefined, { usersLimit: 150 });
    const online = new Map(atAda.joined.users.map((user) => [user.id, user]));
    let pages = 1;
    let named = atAda.joined.users.length;
    const atBen = await room.join(ben);
    for (let after: unknown = atAda.joined.next; after !== undefined; pages += 1) {
      const { data } = await atAda.call("USERS_ONLINE", { after, limit: 150 });
      expect(bytesOf(data)).toBeLessThan(66 * 1024);
      for (const user of data.users as User[]) online.set(user.id, user);
      named += (data.users as User[]).length;
      after = data.next;
    }
    atBen.send({ type: "LEAVE_ROOM" });
    await atBen.closed;
    expect(pages).toBe(7);
    expect([named, online.size]).toEqual([CROWD + 3, CROWD + 2]); // Ada is on her own page, too
    const events = await atAda.takeEvents();
    expect(events.map(({ event }) => event)).toEqual(["userJoined", "userLeft"]);
    expect(online.get(ben.user.id)).toMatchObject({ name: "Ben", status: "online" });
  });
});

it("a page has 1 to 200 users, and a place is a time with an id (R84)", async () => {
  const room = await makeRoom();
  const socket = await room.join(await room.user());
  for (const data of [
    { limit: 0 },
    { limit: 201 },
    { after: "me" },
    { after: { joined_at: "May", id: "1" } },
  ])
    expect(await socket.call("USERS_ONLINE", data)).toEqual(failed("VALIDATION_ERROR"));
  expect((await socket.call("USERS_ONLINE")).data).toEqual({ users: socket.joined.users });
});
