/** R75: who stays online without a socket, for how long, and who does not. */
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { roomOfTwo } from "../../support/rooms.ts";

describe("a user whose connection breaks", () => {
  it.each([
    ["as the runtime reports it", 1006],
    ["because a proxy restarts", 1012],
    ["because the client replaces it", 4000],
  ])("%s and who is back in time has never been away (R20, R50, R75)", async (_, code) => {
    const { room, ada, ben, atAda, atBen } = await roomOfTwo();
    await atBen.call("PRESENCE_SUBSCRIBE", { target: "*", on: true });
    await atAda.call("PRESENCE_UPDATE", { state: { cursor: 1 } });
    expect(await atBen.takeEvents()).toMatchObject([{ event: "presence" }]);
    const [before] = await room.sessions(ada);
    await room.breakSockets(ada, code);
    expect(await room.online(ada, ben)).toEqual([ada.user.id, ben.user.id]);
    expect(await room.stats()).toMatchObject({ activeParticipants: 2 });
    expect(await room.alarmAt()).toBeLessThanOrEqual(room.now + 10_000);
    const cleo = await room.user();
    const atCleo = await room.join(cleo);
    expect(atCleo.joined.users.map(({ id }) => id)).toContain(ada.user.id);
    expect(atCleo.joined.presence).toMatchObject({ [ada.user.id]: { cursor: 1 } });
    room.now += 9_999;
    const again = await room.join(ada);
    expect(again.joined.sessionId).toBe(before?.id);
    await room.advance(20_000);
    expect(await atBen.takeEvents()).toMatchObject([{ event: "userJoined", data: { userId: cleo.user.id } }]);
    expect(await room.sessions(ada)).toEqual([before]);
    await room.hibernate();
    expect((await room.join(cleo)).joined.presence).toMatchObject({ [ada.user.id]: { cursor: 1 } });
  });

  it("and who is not back in time leaves once, at the end of the grace, though the room has hibernated (R28, R75)", async () => {
    const { room, ada, ben, atAda, atBen } = await roomOfTwo();
    await atBen.call("PRESENCE_SUBSCRIBE", { target: "*", on: true });
    await atAda.call("PRESENCE_UPDATE", { state: { cursor: 1 } });
    await atBen.takeEvents();
    const brokenAt = room.now;
    await room.breakSockets(ada);
    await room.hibernate();
    await room.advance(9_999);
    // Nothing has kept the state of a user without a socket while the room hibernated.
    expect(await atBen.takeEvents()).toMatchObject([{ data: { updates: [[ada.user.id, null]] } }]);
    expect(await room.online(ada, ben)).toHaveLength(2);
    await room.advance(1);
    expect((await atBen.takeEvents()).map(({ event }) => event)).toContain("userLeft");
    expect(await room.sessions(ada)).toMatchObject([{ leftAt: brokenAt + 10_000 }]);
    expect(await room.online(ada, ben)).toEqual([ben.user.id]);
    await room.breakSockets(ben);
    await room.advance(10_000);
    await room.advance(1_000);
    expect(await room.stats()).toMatchObject({ activeParticipants: 0, occupiedMs: 20_000 });
    expect(await room.alarmAt()).toBeNull();
  });

  it("leaves at once with the next socket, if that leaves (R21, R75)", async () => {
    const { room, ada, ben, atBen } = await roomOfTwo();
    await room.breakSockets(ada);
    const again = await room.join(ada);
    await again.request("LEAVE_ROOM");
    expect(await room.online(ada, ben)).toEqual([ben.user.id]);
    expect(await atBen.takeEvents()).toMatchObject([{ event: "userLeft" }]);
  });

  it.each([
    ["deleted", async ({ room, ada }: Room) => room.apply({ type: "user.deleted", userId: ada.user.id })],
    [
      "without a valid token",
      async ({ room, ada }: Room) => room.apply({ type: "tokens.ended", userId: ada.user.id }),
    ],
    ["in a room that is closed", async ({ room }: Room) => room.set("closed")],
    ["in a room that is deleted", async ({ room }: Room) => room.apply({ type: "room.deleted" })],
  ])("and who is %s leaves at once (R23, R64, R75)", async (_, change) => {
    const two = await roomOfTwo();
    const { room, ada } = two;
    await room.breakSockets(ada);
    await change(two);
    expect(await room.online(ada)).toEqual([]);
    expect(await room.sessions(ada)).not.toContainEqual(expect.objectContaining({ leftAt: null }));
  });
});

type Room = Awaited<ReturnType<typeof roomOfTwo>>;

describe("a room that restarts", () => {
  it("lets in those who have asked to join while it held joins, however late that is (R2, R76)", async () => {
    const { room, ada } = await roomOfTwo();
    await room.alarm();
    const draw = vi.spyOn(Math, "random").mockReturnValue(0); // the shortest hold
    await room.crash();
    draw.mockRestore();
    const silent = await room.connect();
    const joining = await room.connect();
    joining.send({ type: "JOIN_ROOM", data: { token: ada.token } });
    await joining.drain();
    await room.advance(10_000);
    expect(await silent.closed).toMatchObject({ code: 4408 });
    expect((await joining.nextResponse()).success).toBe(true);
  });

  it("keeps the sessions of those who are back in time, and ends the others when it was last running (R29, R75)", async () => {
    const { room, ada, ben } = await roomOfTwo();
    const start = room.now;
    await room.advance(5_000);
    await room.alarm(); // copies the stats
    room.now += 3_000;
    await room.crash();
    expect(await room.stats()).toEqual({ activeParticipants: 2, occupiedMs: 0, occupiedSince: start });
    const atAda = await room.join(ada);
    expect(atAda.joined.users).toHaveLength(2);
    await room.advance(10_000);
    expect(await atAda.takeEvents()).toMatchObject([{ event: "userLeft", data: { userId: ben.user.id } }]);
    expect(await room.sessions(ada)).toMatchObject([{ joinedAt: start, leftAt: null }]);
    expect(await room.sessions(ben)).toMatchObject([{ joinedAt: start, leftAt: start + 5_000 }]);
    await atAda.request("LEAVE_ROOM");
    expect(await room.stats()).toMatchObject({ activeParticipants: 0, occupiedMs: 18_000 });
    await room.advance(1_000);
    const row = await env.DB.prepare("SELECT active_participants AS online FROM rooms WHERE id = ?")
      .bind(room.id)
      .first();
    expect(row).toEqual({ online: 0 });
  });
});
