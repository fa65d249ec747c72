/** R24 to R26 and R68: pings, silence, and expiring tokens. */
import { describe, expect, it } from "vitest";
import { findOverdue, planAlarm, RoomConnections } from "../../../../src/room/transport/connections.ts";
import { joinedSocket } from "../../support/joined-socket.ts";
import { failed, makeRoom, roomOfTwo, roomWithUsers, tokens } from "../../support/rooms.ts";

describe("the heartbeat", () => {
  it("answers ping with pong, on waiting sockets too (R24)", async () => {
    const room = await makeRoom();
    for (const socket of [await room.connect(), await room.join(await room.user())]) {
      socket.sendRaw("ping");
      expect(await socket.nextText()).toBe("pong");
    }
  });

  it("closes a socket that has been silent for 75 s, not earlier (R25)", async () => {
    const { room, ada, ben } = await roomWithUsers();
    const silent = await room.join(ada);
    await room.alarm();
    expect(await room.alarmAt()).toBe(room.now + 75_000);
    await room.advance(60_000);
    const atBen = await room.join(ben);
    await room.advance(14_999);
    expect(await room.online(ada, ben)).toHaveLength(2);
    await room.advance(1);
    expect(await silent.closed).toEqual({ code: 1001, reason: "silent for 75 s" });
    expect(await room.online(ada, ben)).toHaveLength(2);
    await room.advance(10_000);
    expect(await atBen.next()).toMatchObject({ event: "userLeft", data: { userId: ada.user.id } });
    expect(await room.online(ada, ben)).toEqual([ben.user.id]);
  });

  it("counts any message as a sign of life, to within 5 s across hibernation (R25, R28)", async () => {
    const { room, ada } = await roomWithUsers();
    const socket = await room.join(ada);
    room.now += 4_000;
    await socket.request("HELLO");
    room.now += 46_000;
    await socket.request("HELLO");
    room.now += 4_000;
    await socket.request("HELLO");
    await room.hibernate();
    await room.advance(75_999);
    expect(await room.online(ada)).toEqual([ada.user.id]);
    await room.advance(1);
    expect(await socket.closed).toMatchObject({ code: 1001 });
  });

  it("counts a ping as a sign of life, which the runtime answers by the real clock (R25)", async () => {
    const room = await makeRoom();
    room.now = Date.now();
    const old = { createdAt: room.now - 3_600_000 };
    const [ada, ben] = [await room.user(old), await room.user(old)];
    const [waitingAda, waitingBen] = [await room.connect(), await room.connect()];
    room.now -= 60_000;
    await room.inside(() => undefined);
    await waitingAda.request("JOIN_ROOM", { token: ada.token });
    await waitingBen.request("JOIN_ROOM", { token: ben.token });
    await waitingAda.drain();
    room.now += 60_000;
    await room.advance(20_000);
    expect(await waitingBen.closed).toMatchObject({ code: 1001 });
    await room.advance(11_000);
    expect(await room.online(ada, ben)).toEqual([ada.user.id]);
  });

  it("closes a socket whose token expires with authFailed and 4401 (R26)", async () => {
    const room = await makeRoom();
    const lifetime = 90 * 24 * 3_600_000;
    const ada = await room.user({ createdAt: room.now - lifetime + 30_000 });
    const socket = await room.join(ada);
    await room.hibernate();
    await room.advance(29_999);
    expect(await socket.drain()).toEqual([]);
    await room.advance(1);
    expect(await socket.nextEvent()).toMatchObject({ event: "authFailed", data: { code: "UNAUTHORIZED" } });
    expect(await socket.closed).toMatchObject({ code: 4401 });
    expect(await room.online(ada)).toEqual([]);
  });

  it("stays open with a newer token of its user and role, and with no other (R68)", async () => {
    const { room, ada, ben } = await roomWithUsers();
    const tokenOf = ({ user }: typeof ada, ttlSeconds: number, role: "editor" | "viewer" = "editor") =>
      tokens.signShortLived(
        { ...user, tokenEpoch: 0, accountTokenEpoch: 0, identityId: null, identityEpoch: null },
        { issuedAt: Math.floor(room.now / 1000), ttlSeconds, role, narrowed: role === "viewer" },
      );
    const first = await tokenOf(ada, 100);
    const socket = await room.join({ ...ada, token: first });
    const refresh = (token: unknown) => socket.call("TOKEN_REFRESH", { token });
    const elsewhere = await makeRoom();
    for (const [token, code, module] of [
      ["", "UNAUTHORIZED", "Auth"],
      [7, "VALIDATION_ERROR", "Rooms"],
      [await tokenOf(ben, 600), "FORBIDDEN", "Auth"],
      [(await elsewhere.user()).token, "FORBIDDEN", "Auth"],
      [await tokenOf(ada, 600, "viewer"), "FORBIDDEN", "Auth"],
    ] as const)
      expect(await refresh(token)).toEqual(failed(code, module));
    const expiresAt = new Date(Math.floor(room.now / 1000) * 1000 + 600_000);
    expect((await refresh(await tokenOf(ada, 600))).data).toEqual({ expiresAt: expiresAt.toISOString() });
    expect(await socket.drain()).toEqual([]);
    for (let seconds = 60; seconds < 600; seconds += 60) {
      if (seconds === 240) await room.hibernate(); // the first token has expired by then
      await room.advance(60_000);
      expect((await socket.call("ROOM_GET")).success).toBe(true);
    }
    expect(socket.events).toEqual([]);
    await room.advance(60_000);
    expect(await socket.nextEvent()).toMatchObject({ event: "authFailed" });
    expect(await socket.closed).toMatchObject({ code: 4401 });
  });

  it("verifies one token at a time, and closes with the tokens that ended (R64, R68)", async () => {
    const { room, ada, atAda } = await roomOfTwo();
    for (const requestId of ["1", "2"])
      atAda.send({ type: "TOKEN_REFRESH", requestId, data: { token: ada.token } });
    expect(await atAda.nextResponse()).toEqual(failed("CONFLICT", "Auth"));
    expect(await atAda.nextResponse()).toMatchObject({ success: true, requestId: "1" });
    atAda.send({ type: "TOKEN_REFRESH", data: { token: ada.token } });
    await room.apply({ type: "user.deleted", userId: ada.user.id });
    expect(await atAda.closed).toMatchObject({ code: 4401 });
  });
});

const joined = (lastSeenAt: number, savedLastSeenAt = lastSeenAt) =>
  joinedSocket({ tokenExpiresAt: 1e15, lastSeenAt, savedLastSeenAt });

it("the next alarm is at the earliest deadline (R2, R25, R26, R31)", () => {
  expect(planAlarm(100_000, [])).toBeNull();
  expect(planAlarm(100_000, [{ phase: "waiting", id: "a", openedAt: 95_000, address: "192.0.2.1" }])).toBe(
    105_000,
  );
  expect(planAlarm(100_000, [joined(100_000)])).toBe(175_000);
  expect(planAlarm(100_000, [joined(100_000), joined(40_000)])).toBe(115_000);
  const expiring = joinedSocket({ tokenExpiresAt: 110_000, lastSeenAt: 100_000 });
  expect(planAlarm(100_000, [joined(100_000), expiring])).toBe(120_000);
});

it("a room in which nothing is sent wakes 12 times in an hour at most, and soon again once something is (R25)", () => {
  const start = 1_000_000;
  let now = start;
  let alarms = 0;
  const pinging = () => joined(now - 20_000, start);
  for (; now < start + 3_600_000; alarms += 1) now = planAlarm(now, [pinging(), pinging()]) ?? now;
  expect(alarms - 1).toBeLessThanOrEqual(12); // the last of them is after the hour
  expect(planAlarm(start + 79_999, [joined(start + 5_000, start)])).toBe(start + 80_000); // it may have died at once
  expect(planAlarm(now, [pinging(), joined(now)])).toBe(now + 55_000);
  const connections = new RoomConnections();
  const active = joined(now);
  expect(connections.recordSeen(active, now + 74_999).map(({ type }) => type)).toEqual(["attach"]);
  const quiet = joined(now);
  expect(connections.recordSeen(quiet, now + 75_000).map(({ type }) => type)).toEqual([
    "attach",
    "planAlarm",
  ]);
});

it("a thousand sockets that do not join need few alarms, and are closed at most 250 ms late (R2)", () => {
  let waiting = Array.from({ length: 1_000 }, (_, index) => {
    return { phase: "waiting", id: `${index}`, openedAt: 100_003 + index, address: "192.0.2.1" } as const;
  });
  let alarms = 0;
  for (let at = planAlarm(110_000, waiting); at !== null; at = planAlarm(at, waiting)) {
    const now = at;
    alarms += 1;
    for (const { openedAt } of waiting) expect(now).toBeLessThan(openedAt + 10_250);
    waiting = waiting.filter((socket) => findOverdue(socket, now) === null);
  }
  expect(alarms).toBe(5);
});
