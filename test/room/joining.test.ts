/** R1 to R5, R7 and R11 to R18: connecting and joining. */
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { CONNECTION_COSTS } from "../../src/room/protocol/costs.ts";
import { RoomConnections } from "../../src/room/transport/connections.ts";
import { whileTableFails } from "../support/database-failure.ts";
import { expectLogged } from "../support/log-guard.ts";
import { DatabaseGate } from "./support/database-gate.ts";
import { failed, gateway, makeRoom, type TestRoom, tokens } from "./support/rooms.ts";

const closeRow = (room: TestRoom) =>
  env.DB.prepare("UPDATE rooms SET state = 'closed' WHERE id = ?").bind(room.id).run();
const NO_ENDING = { tokenEpoch: 0, accountTokenEpoch: 0, identityId: null, identityEpoch: null };
const deleteUserRow = (id: string) => env.DB.prepare("DELETE FROM users WHERE id = ?").bind(id).run();

describe("a waiting socket", () => {
  it("joins with its user's token and receives the room's state (R1, R11)", async () => {
    const room = await makeRoom();
    const [ada, ben] = [await room.user(), await room.user({ name: "Ben", customId: "ben-1" })];
    await room.join(ada);
    const socket = await room.connect();
    const answer = await socket.request("JOIN_ROOM", { token: ben.token }, "first");
    expect(answer).toEqual({
      type: "response",
      success: true,
      description: "Room joined",
      data: {
        room: expect.objectContaining({ id: room.id, account_id: room.accountId, active_participants: 2 }),
        user: expect.objectContaining({ id: ben.user.id, name: "Ben", custom_id: "ben-1", status: "online" }),
        role: "editor",
        permissions: ["*:write"],
        epoch: expect.any(String),
        sessionId: expect.any(String),
        users: [
          expect.objectContaining({ id: ada.user.id, status: "online" }),
          expect.objectContaining({
            id: ben.user.id,
            status: "online",
            joined_at: "2100-01-01T00:00:00.000Z",
          }),
        ],
        follows: {},
        presence: {},
        seq: 0,
      },
      error: null,
      requestId: "first",
    });
  });

  it("joins, and prolongs its token, with the line end that the token was copied with (R13)", async () => {
    const room = await makeRoom();
    const { token } = await room.user();
    const socket = await room.connect();
    expect((await socket.request("JOIN_ROOM", { token: ` ${token}\r\n` })).success).toBe(true);
    expect((await socket.request("TOKEN_REFRESH", { token: `${token}\n` })).success).toBe(true);
  });

  it("is closed with 4408 when it has not joined within 10 s, not earlier (R2)", async () => {
    const room = await makeRoom();
    const socket = await room.connect();
    expect(await room.alarmAt()).toBe(room.now + 10_000);
    await room.advance(9_999);
    expect(await socket.drain()).toEqual([]);
    await room.advance(1);
    expect(await socket.closed).toMatchObject({ code: 4408 });
    expect(await room.alarmAt()).toBeNull();
  });

  it.each([
    ["another message", '{"type":"LEAVE_ROOM"}'],
    ["an unknown message", '{"type":"HELLO"}'],
    ["invalid JSON", "{"],
    ["a binary frame", new ArrayBuffer(4)],
  ])("is closed with 4400 and no response when it sends %s (R3)", async (_, frame) => {
    const room = await makeRoom();
    const socket = await room.connect();
    socket.sendRaw(frame);
    expect(await socket.closed).toMatchObject({ code: 4400 });
    await expect(socket.next()).rejects.toThrow("closed before");
  });

  it("is closed with 4400 when it sends more before it has joined, and does not join (R3, R18)", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    const socket = await room.connect();
    socket.send({ type: "JOIN_ROOM", data: { token: ada.token } });
    socket.send({ type: "JOIN_ROOM", data: { token: ada.token } });
    expect(await socket.closed).toMatchObject({ code: 4400 });
    expect(await room.online(ada)).toEqual([]);
  });

  it("gives way with 4409, if it has sent nothing, to one more than 200 of its address (R4)", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    const silent = [];
    for (let count = 0; count < 200; count += 1) {
      room.now += 1;
      silent.push(await room.connect());
    }
    await evictDurableObject(room.stub);
    const other = await room.connect("192.0.2.2");
    expect(await silent[0]?.drain()).toEqual([]);
    const further = await room.connect();
    expect(await silent[0]?.closed).toMatchObject({ code: 4409 });
    expect((await further.request("JOIN_ROOM", { token: ada.token })).success).toBe(true);
    await room.connect();
    for (const socket of [silent[1], silent[199], other]) expect(await socket?.drain()).toEqual([]);
  });

  it("gives way, if it has sent nothing and its address has the most, when 1,000 wait (R4)", () => {
    const { waiting } = new RoomConnections();
    const socket = (id: string, address: string) => ({ phase: "waiting", id, address, openedAt: 0 }) as const;
    waiting.add(socket("lonely", "a"));
    for (let count = 0; count < 999; count += 1)
      waiting.add(socket(`silent ${count}`, `stranger ${count % 9}`));
    expect(waiting.findSocketToReplace("b")).toBe("silent 0");
    waiting.remove(socket("silent 0", "stranger 0"));
    expect(waiting.findSocketToReplace("b")).toBeNull();
    waiting.add(socket("member", "b"));
    expect(waiting.findSocketToReplace("c")).toBe("silent 1");
  });

  it("keeps its place while its token is verified; a further one is closed instead (R4)", () => {
    const { waiting } = new RoomConnections();
    const request = { token: "t", role: "editor", batch: false, requestId: undefined } as const;
    for (let count = 0; count < 200; count += 1)
      waiting.add({ phase: "authorizing", id: `${count}`, address: "a", openedAt: 0, request, stale: false });
    expect(waiting.findSocketToReplace("a")).toBe("none");
    expect(waiting.findSocketToReplace("b")).toBeNull();
  });

  it("no longer counts once its token is valid, though its user is yet to be read (R4)", async () => {
    const room = await makeRoom();
    const users = await Promise.all(Array.from({ length: 8 }, () => room.user()));
    await DatabaseGate.during(room, async () => {
      for (let count = 0; count < 200; count += 1)
        (await room.connect()).send({ type: "JOIN_ROOM", data: { token: users[count % 8]?.token } });
      const stays = async () => {
        const further = await room.connect();
        return further.drain().then(
          () => true,
          () => false,
        );
      };
      await expect.poll(stays).toBe(true);
    });
  });

  it("costs its address four times as much when it does not join, and is refused in the end (R71)", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    await room.join(ada);
    for (let count = 0; count < 250; count += 1) {
      const socket = await room.connect();
      socket.sendRaw("{");
      await socket.closed;
    }
    const refusal = { code: "RATE_LIMITED", retryAfterSeconds: 1 };
    const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now());
    onTestFinished(() => clock.mockRestore());
    await expect(room.connect()).rejects.toMatchObject(refusal);
    const upgrade = (address: string) =>
      new Request("https://atrium.test/socket", { headers: { "CF-Connecting-IP": address } });
    expect(() => gateway.requireConnectable(room.id, upgrade("192.0.2.1"))).toThrow(
      expect.objectContaining(refusal),
    );
    gateway.requireConnectable(room.id, upgrade("192.0.2.2"));
    await room.connect("192.0.2.2");
    room.now += 1_000;
    await expect(room.connect()).rejects.toMatchObject(refusal); // refused by the Worker alone; the room would accept it
    clock.mockReturnValue(Date.now() + 1_000);
    await room.connect();
  });

  it("is refused for 5 s at most by what its address owes, and then costs as much again (R71)", () => {
    const { addresses } = new RoomConnections();
    for (let count = 0; count < 1_000; count += 1) addresses.of("a", 0).spend(CONNECTION_COSTS.unjoined, 0);
    expect(addresses.of("a", 0).affordableIn(0)).toBe(5_001);
    expect(addresses.of("b", 0).affordableIn(0)).toBe(0);
    addresses.of("a", 5_001).spend(CONNECTION_COSTS.opened + CONNECTION_COSTS.unjoined, 5_001);
    expect(addresses.of("a", 5_001).affordableIn(5_001)).toBeGreaterThan(150);
  });

  it("is closed with 4409 when its user has 32 joined sockets (R5)", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    const first = await room.join(ada);
    for (let count = 1; count < 32; count += 1) await room.join(ada);
    expect(await room.refusedJoin(ada)).toMatchObject({ answer: failed("CONFLICT"), code: 4409 });
    await first.request("LEAVE_ROOM");
    expect((await room.join(ada)).joined.users).toHaveLength(1);
  });

  it("is closed with 4413 when its frame exceeds 256 KiB, counted in bytes (R7)", async () => {
    const room = await makeRoom();
    for (const frame of [
      "x".repeat(256 * 1024 + 1),
      "é".repeat(128 * 1024 + 1),
      new ArrayBuffer(256 * 1024 + 1),
    ]) {
      const socket = await room.connect();
      socket.sendRaw(frame);
      expect(await socket.closed).toMatchObject({ code: 4413 });
    }
  });
});

it.each([
  ["editor", undefined, "editor"],
  ["editor", "viewer", "viewer"],
  ["viewer", "editor", "viewer"],
  ["viewer", undefined, "viewer"],
] as const)("the role of a user who is %s and requests %s is %s (R12)", async (ceiling, asked, granted) => {
  const room = await makeRoom();
  const socket = await room.join(await room.user({ role: ceiling }), asked);
  expect(socket.joined.role).toBe(granted);
});

describe("joining is refused", () => {
  /** The answer, `authFailed` and the close of a join whose token does not let it in. */
  const refusal = (error: string, code: number) => ({
    answer: failed(error, "Auth"),
    event: expect.objectContaining({ event: "authFailed", data: expect.objectContaining({ code: error }) }),
    code,
  });

  it.each([
    ["no data", undefined],
    ["no token", {}],
    ["a token that is not a string", { token: 7 }],
    ["an invalid token", { token: "a.b.c" }],
  ])("with UNAUTHORIZED, authFailed and 4401 for %s (R13)", async (_, data) => {
    const room = await makeRoom();
    expect(await room.refusedJoin(data)).toEqual(refusal("UNAUTHORIZED", 4401));
  });

  it("with 4401 for an expired token, a deleted user, and claims that no longer match the user (R13)", async () => {
    const room = await makeRoom();
    const expired = await room.user({ createdAt: room.now - 91 * 24 * 3_600_000 });
    const deleted = await room.user();
    await deleteUserRow(deleted.user.id);
    const older = await room.user();
    const outdated = await tokens.sign({ ...older.user, ...NO_ENDING, createdAt: room.now - 60_000 });
    for (const token of [expired.token, deleted.token, outdated])
      expect(await room.refusedJoin({ token })).toEqual(refusal("UNAUTHORIZED", 4401));
    expect(await room.tables()).toEqual([]);
  });

  it("with FORBIDDEN, authFailed and 4403 for a token for another room or account (R13)", async () => {
    const [room, other] = [await makeRoom(), await makeRoom()];
    const outsider = await other.user();
    expect(await room.refusedJoin(outsider)).toEqual(refusal("FORBIDDEN", 4403));
    // A token of no user is not valid, whatever room it names.
    const token = await tokens.sign({ ...outsider.user, ...NO_ENDING, roomId: room.id });
    expect(await room.refusedJoin({ token })).toEqual(refusal("UNAUTHORIZED", 4401));
  });

  it("with VALIDATION_ERROR and 4400 for an unknown role (R14)", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    const { answer, code } = await room.refusedJoin({ token: ada.token, role: "owner" }, "r");
    expect([answer, code]).toEqual([failed("VALIDATION_ERROR"), 4400]);
    expect(answer).toMatchObject({
      requestId: "r",
      error: { message: expect.stringContaining("data.role") },
    });
  });

  it("with FORBIDDEN and 4403 by a closed room, with NOT_FOUND and 4404 by a deleted one (R15)", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    await closeRow(room);
    expect(await room.refusedJoin(ada)).toMatchObject({ answer: failed("FORBIDDEN"), code: 4403 });
    await room.deleteRow();
    expect(await room.refusedJoin(ada)).toMatchObject({ answer: failed("NOT_FOUND"), code: 4404 });
  });

  it("with INTERNAL_ERROR and 1011 while the database fails, and succeeds afterwards (R16)", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    await whileTableFails("rooms", async () => {
      const { answer, code } = await room.refusedJoin(ada);
      expect([answer, code]).toEqual([failed("INTERNAL_ERROR", "Server"), 1011]);
      expect(JSON.stringify(answer)).not.toMatch(/rooms|SQL|D1/);
    });
    expectLogged("no such table: rooms");
    expect((await room.join(ada)).joined.users).toHaveLength(1);
  });
});

describe("while a token is being verified (R18),", () => {
  it("a deleted user is refused", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    const socket = await room.joinWhile(ada.token, async (object) => {
      await deleteUserRow(ada.user.id);
      await object.apply(room.accountId, { type: "user.deleted", userId: ada.user.id });
    });
    expect(await socket.closed).toMatchObject({ code: 4401 });
    expect(await room.online(ada)).toEqual([]);
  });

  it.each([
    ["room.closed", 4403],
    ["room.deleted", 4404],
  ] as const)("a socket closed by %s does not join afterwards", async (type, code) => {
    const room = await makeRoom();
    const ada = await room.user();
    const socket = await room.joinWhile(ada.token, async (object) => {
      const state = type === "room.closed" ? "closed" : "active";
      await env.DB.prepare("UPDATE rooms SET state = ? WHERE id = ?").bind(state, room.id).run();
      await object.apply(room.accountId, { type });
    });
    expect(await socket.closed).toMatchObject({ code });
    expect(await room.online(ada)).toEqual([]);
    expect(await room.tables()).toEqual([]);
  });

  it("a changed user joins with the new fields", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    const socket = await room.joinWhile(ada.token, async (object) => {
      await env.DB.prepare("UPDATE users SET name = 'Ada L.' WHERE id = ?").bind(ada.user.id).run();
      await object.apply(room.accountId, { type: "user.updated", userId: ada.user.id });
    });
    expect(await socket.nextResponse()).toMatchObject({ success: true, data: { user: { name: "Ada L." } } });
  });

  it("a socket whose 10 s have passed does not join afterwards", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    const socket = await room.joinWhile(ada.token, async (object) => {
      room.now += 10_000;
      await object.alarm();
    });
    expect(await socket.closed).toMatchObject({ code: 4408 });
    expect(await room.online(ada)).toEqual([]);
  });

  it("a socket that closes does not join afterwards", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    const socket = await room.joinWhile(ada.token, (object, state) => {
      for (const end of state.getWebSockets()) object.webSocketClose(end, 1001, "gone");
    });
    expect(await socket.closed).toMatchObject({ code: 1001 });
    expect(await room.online(ada)).toEqual([]);
  });
});
