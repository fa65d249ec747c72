/** Bugs in which one socket, or one failure, ended the effects for everyone else in the room. */
import { describe, expect, it } from "vitest";
import type { ServerEvent } from "../../src/room/protocol/protocol.ts";
import { failAttachments, failSends, failStorage } from "../room/support/faults.ts";
import { failed, makeRoom, roomOfTwo } from "../room/support/rooms.ts";
import type { TestSocket } from "../room/support/test-socket.ts";
import { expectLogged } from "../support/log-guard.ts";

const seqsOf = (events: readonly ServerEvent[]) =>
  events.flatMap((event) => ("seq" in event ? event.seq : []));
const subscribe = (socket: TestSocket, target: string) =>
  socket.call("PRESENCE_SUBSCRIBE", { target, on: true });
const set = (socket: TestSocket, value: number) =>
  socket.call("STORE_SET", { store: "s", key: `k${value}`, value });

describe("presence targets", () => {
  // 63 subscriptions to long names overflowed the socket's attachment: the room's effects stopped half-way, others
  // saw holes in the sequence, and presence was dead for everyone.
  it.each([
    ["wide characters", "✨".repeat(254)],
    ["characters that JSON escapes", "\u0001".repeat(254)],
    ["plain characters", "x".repeat(254)],
  ])("of %s are refused before they overflow the attachment", async (_, name) => {
    const { atAda, atBen } = await roomOfTwo();
    await subscribe(atBen, "*");
    const state = { text: "✨".repeat(2_725) };
    expect((await atAda.call("PRESENCE_UPDATE", { state })).success).toBe(true);
    const answers: boolean[] = [];
    for (let index = 0; index < 63; index += 1)
      answers.push((await subscribe(atAda, name + String.fromCharCode(65 + index))).success);
    expect(answers[0]).toBe(true);
    expect(answers.at(-1)).toBe(false);
    expect(await subscribe(atAda, `${name}!`)).toEqual(failed("CONFLICT"));
    await set(atBen, 1);
    await atAda.call("PRESENCE_UPDATE", { state: { x: 1 } });
    expect(await atBen.takeEvents()).toMatchObject([
      { event: "presence" },
      { event: "storeChanged", seq: 1 },
      { event: "presence", data: { updates: [[expect.any(String), { x: 1 }]] } },
    ]);
    expect(seqsOf(await atAda.takeEvents())).toEqual([1]);
  });
});

describe("a socket that the runtime fails", () => {
  // The first effect that threw ended the effects after it: a change was committed and some never received it.
  it.each([
    ["attachments", failAttachments, "An effect of a room failed: attach: fault: attachment"],
    ["sends", failSends, "A frame could not be sent: fault: send"],
  ] as const)(
    "is closed with 1011 when its %s fail, and costs the others nothing (R65)",
    async (_, fail, logged) => {
      const { room, ada, ben, atAda, atBen } = await roomOfTwo();
      const atCy = await room.join(await room.user());
      for (const socket of [atAda, atBen, atCy]) await subscribe(socket, "*");
      await set(atBen, 1);
      fail(ada.user.id);
      atAda.send({ type: "PRESENCE_UPDATE", data: { state: { x: 1 } } });
      atAda.send({ type: "PRESENCE_SUBSCRIBE", data: { target: "someone", on: true } });
      await set(atBen, 2);
      expect(await atAda.closed).toMatchObject({ code: 1011 });
      await atBen.call("PRESENCE_UPDATE", { state: { x: 2 } });
      await set(atCy, 3);
      await room.advance(10_000);
      for (const socket of [atBen, atCy]) {
        const events = await socket.takeEvents();
        expect(seqsOf(events)).toEqual([1, 2, 3]);
        expect(events).toContainEqual(
          expect.objectContaining({
            event: "userLeft",
            data: expect.objectContaining({ userId: ada.user.id }),
          }),
        );
        expect(events).toContainEqual(
          expect.objectContaining({ data: { updates: [[ben.user.id, expect.objectContaining({ x: 2 })]] } }),
        );
      }
      expect(await room.online(ada, ben)).toEqual([ben.user.id]);
      expectLogged(logged);
    },
  );

  // Before it handled a message, the room noted when it had seen the socket: that failed, and no one saw the change.
  it("does not keep its own change from the others (R32, R65)", async () => {
    const { room, ada, atAda, atBen } = await roomOfTwo();
    room.now += 10_000;
    failAttachments(ada.user.id);
    atAda.send({ type: "STORE_SET", data: { store: "s", key: "k", value: 1 } });
    expect(await atAda.closed).toMatchObject({ code: 1011 });
    expect(seqsOf(await atBen.takeEvents())).toEqual([1]);
    expectLogged("An effect of a room failed: attach: fault: attachment");
  });

  it("comes back and misses nothing (R65)", async () => {
    const { room, ada, atAda, atBen } = await roomOfTwo();
    await set(atAda, 1);
    const sends = failSends(ada.user.id);
    await set(atBen, 2);
    await set(atBen, 3);
    expect(await atAda.closed).toMatchObject({ code: 1011 });
    sends.heal();
    const again = await room.join(ada, "editor", { since: 1 });
    expect(again.joined.changes).toMatchObject([{ seq: 2 }, { seq: 3 }]);
    expectLogged("fault: send");
  });

  it("that accepts arrays is closed as well", async () => {
    const { room, ada, atBen } = await roomOfTwo();
    const batching = await room.connect();
    batching.send({ type: "JOIN_ROOM", data: { token: ada.token, batch: true } });
    await batching.nextText();
    failSends(ada.user.id);
    await set(atBen, 1);
    expect(await batching.closed).toMatchObject({ code: 1011 });
    expectLogged("fault: send");
  });
});

describe("a room whose storage fails", () => {
  // A session that could not be stored left the socket waiting without an answer.
  it("answers a join with INTERNAL_ERROR, and lets others in afterwards (R16)", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    const storage = await failStorage(room, /INSERT INTO sessions/);
    const socket = await room.connect();
    expect(await socket.request("JOIN_ROOM", { token: ada.token })).toEqual(
      failed("INTERNAL_ERROR", "Server"),
    );
    expect(await socket.closed).toMatchObject({ code: 1011 });
    storage.heal();
    expect((await room.join(ada)).joined.users).toHaveLength(1);
    expectLogged("fault: storage");
  });

  // A leave that could not be stored kept the user online until the room hibernated.
  it("ends the sessions of closed sockets when it works again", async () => {
    const { room, ada, ben, atAda, atBen } = await roomOfTwo();
    const storage = await failStorage(room, /UPDATE sessions SET left_at/);
    atAda.close();
    await atAda.closed;
    expect(await room.online(ada, ben)).toEqual([ada.user.id, ben.user.id]);
    storage.heal();
    await room.advance(1_000);
    expect(await room.online(ada, ben)).toEqual([ben.user.id]);
    expect(await atBen.takeEvents()).toMatchObject([{ event: "userLeft", data: { userId: ada.user.id } }]);
    expectLogged("The sessions of closed sockets could not be ended yet: fault: storage");
  });

  // Presence that could not be computed for one follower was lost for all.
  it("sends presence again that it could not send", async () => {
    const { ada, room, atAda, atBen } = await roomOfTwo();
    await subscribe(atBen, "following");
    await atBen.call("USER_FOLLOW", { userId: ada.user.id });
    await atBen.takeEvents();
    const storage = await failStorage(room, /SELECT followed FROM follows/);
    await atAda.call("PRESENCE_UPDATE", { state: { x: 1 } });
    storage.heal();
    await set(atAda, 1);
    expect(await atBen.takeEvents()).toContainEqual(
      expect.objectContaining({ event: "presence", data: { updates: [[ada.user.id, expect.anything()]] } }),
    );
    expectLogged("The presence of a room could not be sent yet: fault: storage");
  });
});
