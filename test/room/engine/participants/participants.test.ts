/** R19 to R23: users online, events about them, and the effects of changes over REST. */
import { describe, expect, it } from "vitest";
import { makeRoom, roomWithUsers } from "../../support/rooms.ts";

describe("other users", () => {
  it("receive that a user joins and leaves, which the user does not (R9, R20)", async () => {
    const room = await makeRoom();
    const [ada, ben] = [await room.user(), await room.user({ name: "Ben" })];
    const atAda = await room.join(ada);
    const atBen = await room.join(ben);
    expect(await atAda.next()).toEqual({
      type: "event",
      event: "userJoined",
      data: { userId: ben.user.id, user: expect.objectContaining({ name: "Ben", status: "online" }) },
    });
    expect(await atBen.request("LEAVE_ROOM", {}, "bye")).toEqual({
      type: "response",
      success: true,
      description: "Room left",
      data: {},
      error: null,
      requestId: "bye",
    });
    expect(await atBen.closed).toMatchObject({ code: 1000 });
    expect(await atAda.next()).toEqual({
      type: "event",
      event: "userLeft",
      data: { userId: ben.user.id, user: expect.objectContaining({ name: "Ben", status: "offline" }) },
    });
    await expect(atBen.next()).rejects.toThrow("closed before");
    expect(await atAda.drain()).toEqual([]);
  });

  it("receive nothing about further tabs, which share one session (R19, R20, R21)", async () => {
    const { room, ada, ben } = await roomWithUsers();
    const atBen = await room.join(ben);
    const first = await room.join(ada);
    room.now += 1_000;
    const second = await room.join(ada);
    expect(second.joined.sessionId).toBe(first.joined.sessionId);
    expect(second.joined.user.joined_at).toBe(first.joined.user.joined_at);
    expect(await atBen.drain()).toMatchObject([{ event: "userJoined" }]);
    expect(await first.drain()).toEqual([]);

    await first.request("LEAVE_ROOM");
    expect(await first.closed).toMatchObject({ code: 1000 });
    expect(await atBen.drain()).toEqual([]);
    expect(await room.online(ada, ben)).toEqual([ada.user.id, ben.user.id]);

    await second.request("LEAVE_ROOM");
    expect(await atBen.next()).toMatchObject({ event: "userLeft", data: { userId: ada.user.id } });
    expect(await room.online(ada, ben)).toEqual([ben.user.id]);
    expect(await room.sessions(ada)).toHaveLength(1);
  });
});

describe("a session", () => {
  it("starts with the first socket and ends with the last; sessions are listed newest first (R19)", async () => {
    const { room, ada } = await roomWithUsers();
    const start = room.now;
    const socket = await room.join(ada);
    const open = { id: socket.joined.sessionId, userId: ada.user.id, roomId: room.id, joinedAt: start };
    expect(await room.sessions(ada)).toEqual([{ ...open, leftAt: null }]);
    room.now += 5_000;
    await socket.request("LEAVE_ROOM");
    const again = await room.join(ada);
    expect(await room.sessions(ada)).toEqual([
      { ...open, id: again.joined.sessionId, joinedAt: start + 5_000, leftAt: null },
      { ...open, leftAt: start + 5_000 },
    ]);
  });

  it.each([
    ["closes with a code", 4123, 4123],
    ["closes as browsers do", 1000, 1000],
  ])("ends when its socket %s, and the close is completed (R21)", async (_, code, answered) => {
    const { room, ada } = await roomWithUsers();
    const socket = await room.join(ada);
    socket.close(code, "bye");
    expect(await socket.closed).toEqual({ code: answered, reason: "bye" });
    expect(await room.online(ada)).toEqual([]);
  });

  it("ends at once when its socket is closed without a code (R21)", async () => {
    const { room, ada } = await roomWithUsers();
    const socket = await room.join(ada);
    await room.inside((object, state) => {
      for (const end of state.getWebSockets()) object.webSocketClose(end, 1005, "");
    });
    expect(await socket.closed).toMatchObject({ code: 1000 });
    expect(await room.online(ada)).toEqual([]);
  });
});

describe("a change made over REST", () => {
  it("to a user reaches all joined sockets, and users who join later (R22)", async () => {
    const { room, ada, ben } = await roomWithUsers();
    const atAda = await room.join(ada);
    const atBen = await room.join(ben);
    const waiting = await room.connect();
    await atAda.drain();
    await room.change(ada, { name: "Ada L.", customId: "ada" });
    for (const socket of [atAda, atBen]) {
      expect(await socket.drain()).toEqual([
        {
          type: "event",
          event: "userUpdated",
          seq: 1,
          data: {
            userId: ada.user.id,
            user: expect.objectContaining({ name: "Ada L.", custom_id: "ada", status: "online" }),
          },
        },
      ]);
    }
    expect(await waiting.drain()).toEqual([]);
    await room.hibernate();
    const third = await room.join(await room.user());
    expect(third.joined.users.map(({ name }) => name)).toContain("Ada L.");
  });

  it("to a user who is offline reaches the others (R22)", async () => {
    const { room, ada, ben } = await roomWithUsers();
    const atBen = await room.join(ben);
    await room.change(ada, { name: "New" });
    expect(await atBen.next()).toMatchObject({
      event: "userUpdated",
      data: { user: { name: "New", status: "offline" } },
    });
    expect((await room.stats()).activeParticipants).toBe(1);
  });

  it("that deletes a user closes its sockets with authFailed and 4401, once (R23)", async () => {
    const { room, ada, ben } = await roomWithUsers();
    const tabs = [await room.join(ada), await room.join(ada)];
    const atBen = await room.join(ben);
    for (let times = 0; times < 2; times += 1) {
      const stats = await room.apply({ type: "user.deleted", userId: ada.user.id });
      expect(stats.activeParticipants).toBe(1);
    }
    for (const tab of tabs) {
      expect(await tab.next()).toMatchObject({ event: "userJoined" });
      expect(await tab.nextEvent()).toMatchObject({ event: "authFailed", data: { code: "UNAUTHORIZED" } });
      expect(await tab.closed).toMatchObject({ code: 4401 });
    }
    expect(await atBen.drain()).toMatchObject([
      { event: "userLeft", data: { userId: ada.user.id } },
      { event: "userDeleted", data: { userId: ada.user.id }, seq: 1 },
    ]);
    expect(await room.sessions(ada)).toEqual([]);
  });

  it("that closes the room closes all sockets with 4403, ends the sessions and keeps them (R23)", async () => {
    const { room, ada, ben } = await roomWithUsers();
    const sockets = [await room.join(ada), await room.join(ben), await room.connect()];
    room.now += 2_500;
    const stats = await room.set("closed");
    expect(stats).toEqual({ activeParticipants: 0, occupiedMs: 2_500, occupiedSince: null });
    expect(await room.apply({ type: "room.closed" })).toEqual(stats);
    for (const socket of sockets) expect(await socket.closed).toMatchObject({ code: 4403 });
    expect(await room.sessions(ada)).toMatchObject([{ leftAt: room.now }]);
  });

  it("that deletes the room closes all sockets with 4404 and leaves nothing in storage (R23)", async () => {
    const room = await makeRoom();
    const sockets = [await room.join(await room.user()), await room.connect()];
    await room.alarm();
    expect(await room.tables()).not.toEqual([]);
    for (let times = 0; times < 2; times += 1) {
      const stats = await room.apply({ type: "room.deleted" });
      expect(stats).toEqual({ activeParticipants: 0, occupiedMs: 0, occupiedSince: null });
    }
    for (const socket of sockets) expect(await socket.closed).toMatchObject({ code: 4404 });
    expect(await room.tables()).toEqual([]);
    expect(await room.alarmAt()).toBeNull();
    await room.hibernate();
    expect(await room.tables()).toEqual([]);
  });
});

it("an object refuses callers of another account", async () => {
  const room = await makeRoom();
  await room.join(await room.user());
  await room.inside(async (object) => {
    expect(() => object.read(crypto.randomUUID(), [])).toThrow("another account");
  });
});
