/** R101: presence that no other socket sees. */
import { LIMITS } from "@atrium/contract/limits.ts";
import { describe, expect, it } from "vitest";
import { roomOfTwo } from "../../support/rooms.ts";
import type { TestSocket } from "../../support/test-socket.ts";

/** Time for a viewer to come back. */
const RETURN_MS = 5_000;
const UNSEEN = LIMITS.unseenPresenceMs;
/** The end of {@link UNSEEN}. */
const SEEN = undefined;

const show = (socket: TestSocket, x: number) => socket.call("PRESENCE_UPDATE", { state: { x } });
const subscribe = (socket: TestSocket, target: string, on = true) =>
  socket.call("PRESENCE_SUBSCRIBE", { target, on });

/** The intervals that a socket has received for its own updates, and the positions of others. */
async function received(socket: TestSocket) {
  const frames = (await socket.takeEvents()).flatMap((event) =>
    event.event === "presence" ? [event.data] : [],
  );
  return {
    intervals: frames.flatMap(({ every, updates }) => (updates.length === 0 ? [every] : [])),
    positions: frames.flatMap(({ updates }) => updates.map(([, state]) => state?.x)),
  };
}
const intervals = async (socket: TestSocket) => (await received(socket)).intervals;

describe("presence that no other socket sees (R101)", () => {
  it("is wanted every 10 s, which a client learns once, and at once again for a new subscriber", async () => {
    const { room, ada, atAda, atBen } = await roomOfTwo();
    await show(atAda, 1);
    await show(atAda, 2);
    expect([await intervals(atAda), await intervals(atBen)]).toEqual([[UNSEEN], []]);
    await subscribe(atBen, "someone else");
    expect(await intervals(atAda)).toEqual([]);
    await subscribe(atBen, ada.user.id);
    expect([await intervals(atAda), await received(atBen)]).toEqual([
      [SEEN],
      { intervals: [], positions: [2] },
    ]);
    await show(atAda, 3);
    expect([await intervals(atAda), (await received(atBen)).positions]).toEqual([[], [3]]);
    const alarmAt = await room.alarmAt();
    await atBen.call("LEAVE_ROOM");
    room.now += RETURN_MS;
    await show(atAda, 4);
    expect([await intervals(atAda), await room.alarmAt()]).toEqual([[UNSEEN], alarmAt]);
  });

  it("keeps its pace for a viewer who reloads, or subscribes again", async () => {
    const { room, ada, ben, atAda, atBen } = await roomOfTwo();
    await subscribe(atBen, "*");
    await atBen.call("LEAVE_ROOM");
    room.now += RETURN_MS - 1;
    await show(atAda, 1);
    const reloaded = await room.join(ben);
    await subscribe(reloaded, "*");
    await subscribe(reloaded, "*", false);
    room.now += RETURN_MS - 1;
    await show(atAda, 2);
    await subscribe(reloaded, ada.user.id);
    room.now += RETURN_MS;
    await show(atAda, 3);
    expect([await intervals(atAda), (await received(reloaded)).positions]).toEqual([[], [1, 2, 3]]);
  });

  it("is not that which another tab of the user sees", async () => {
    const { room, ada, atAda } = await roomOfTwo();
    await subscribe(atAda, "*");
    await show(atAda, 1);
    expect(await received(atAda)).toEqual({ intervals: [UNSEEN], positions: [1] });
    const second = await room.join(ada);
    await show(second, 2);
    expect([await received(atAda), await intervals(second)]).toEqual([{ intervals: [], positions: [2] }, []]);
    await subscribe(second, "*");
    expect([await intervals(atAda), (await received(second)).positions]).toEqual([[SEEN], [2]]);
    await show(atAda, 3);
    await subscribe(second, "*", false);
    room.now += RETURN_MS;
    await show(second, 4);
    expect([await intervals(atAda), await intervals(second)]).toEqual([[], []]);
    await show(atAda, 5);
    expect([await intervals(atAda), await intervals(second)]).toEqual([[UNSEEN], []]);
  });

  it("ends when someone follows the user, and begins when no one does any more", async () => {
    const { ada, atAda, atBen } = await roomOfTwo();
    await subscribe(atBen, "following");
    await show(atAda, 1);
    expect(await intervals(atAda)).toEqual([UNSEEN]);
    await atBen.call("USER_FOLLOW", { userId: ada.user.id });
    expect(await intervals(atAda)).toEqual([SEEN]);
    await show(atAda, 2);
    expect([await intervals(atAda), (await received(atBen)).positions]).toEqual([[], [2]]);
    await atBen.call("USER_UNFOLLOW", { userId: ada.user.id });
    await show(atAda, 3);
    expect(await intervals(atAda)).toEqual([UNSEEN]);
  });

  it("stays known through hibernation", async () => {
    const { room, atAda, atBen } = await roomOfTwo();
    await show(atAda, 1);
    await room.hibernate();
    await show(atAda, 2);
    expect(await intervals(atAda)).toEqual([UNSEEN]);
    await room.hibernate();
    await subscribe(atBen, "*");
    expect([await intervals(atAda), (await received(atBen)).positions]).toEqual([[SEEN], [2]]);
    await room.hibernate();
    await show(atAda, 3);
    expect([await intervals(atAda), (await received(atBen)).positions]).toEqual([[], [3]]);
  });

  it("is taken as often as before from a client that does not know the rule", async () => {
    const { room, ada, atAda } = await roomOfTwo();
    for (let x = 1; x <= 200; x += 1) atAda.send({ type: "PRESENCE_UPDATE", data: { state: { x } } });
    expect(await show(atAda, 201)).toMatchObject({ success: true });
    expect(await intervals(atAda)).toEqual([UNSEEN]);
    const { joined } = await room.join(await room.user());
    expect(joined.presence).toMatchObject({ [ada.user.id]: { x: 201 } });
  });
});
