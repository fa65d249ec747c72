/** The quota of users who are online at once in an organization's rooms (R73). */
import { describe, expect, it } from "vitest";
import { quotaOf } from "../../support/quotas.ts";
import { failed, makeRoom } from "../../support/rooms.ts";

const { setLimit, used } = quotaOf("online_users");

const MINUTE_MS = 60_000;

describe("the quota of users online (R73)", () => {
  it("counts users and not sockets, when their room copies its stats, and no more of a room that is gone", async () => {
    const room = await makeRoom();
    const [ada, bo] = [await room.user(), await room.user()];
    const sockets = [await room.join(ada), await room.join(ada), await room.join(bo)];
    expect(await used(room)).toBe(0);
    await room.alarm();
    expect(await used(room)).toBe(2);
    await sockets[2]?.drain();
    await sockets[2]?.request("LEAVE_ROOM");
    await room.advance(1_000);
    expect(await used(room)).toBe(1);
    await room.deleteRow();
    expect(await used(room)).toBe(0);
  });

  it("refuses to let more users in when it is used up, until others have left or the limit is raised", async () => {
    const room = await makeRoom();
    const [ada, bo] = [await room.user(), await room.user()];
    await setLimit(room, 1);
    const socket = await room.join(ada);
    await room.alarm();
    expect(await room.refusedJoin(bo)).toMatchObject({
      answer: {
        error: { module: "Accounts", code: "FORBIDDEN" },
        description:
          "The quota online_users is exceeded: 1 of 1 are used; wait until others leave, or ask the service's operator for a higher limit",
      },
      code: 4403,
    });
    expect(await room.online(ada, bo)).toEqual([ada.user.id]);
    await socket.drain();
    await socket.request("LEAVE_ROOM");
    await room.advance(1_000);
    await room.join(bo);
    await setLimit(room, 2);
    await room.join(ada);
  });

  it("refuses no one who is online, or comes back after a broken connection", async () => {
    const room = await makeRoom();
    const [ada, bo] = [await room.user(), await room.user()];
    await setLimit(room, 1);
    const first = await room.join(ada);
    await room.alarm();
    const second = await room.join(ada);
    for (const socket of [first, second]) {
      await socket.drain();
      await socket.request("LEAVE_ROOM");
    }
    // The database still counts the returning user until the room's copy.
    await room.join(ada);
    await room.alarm();
    expect(await room.refusedJoin(bo)).toMatchObject({ answer: failed("FORBIDDEN", "Accounts") });
    await setLimit(room, 0);
    await room.join(ada);
  });

  it("treats a user who was away for more than five minutes like any other", async () => {
    const room = await makeRoom();
    const [ada, bo] = [await room.user(), await room.user()];
    const socket = await room.join(ada);
    await socket.request("LEAVE_ROOM");
    await room.join(bo);
    await setLimit(room, 1);
    await room.advance(5 * MINUTE_MS - 1);
    await (await room.join(ada)).request("LEAVE_ROOM");
    await setLimit(room, 0);
    await room.advance(5 * MINUTE_MS + 1);
    expect(await room.refusedJoin(ada)).toMatchObject({
      answer: failed("FORBIDDEN", "Accounts"),
      code: 4403,
    });
  });
});
