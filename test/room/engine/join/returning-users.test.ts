/** R76: users who come back to a restarted room are let in as it has stored them, unless it may have missed a change. */
import { env } from "cloudflare:workers";
import { BAN } from "@atrium/contract/resources/permissions.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import { account } from "../../../support/api.ts";
import { DatabaseGate } from "../../support/database-gate.ts";
import { makeRoom, roomOfTwo, TestRoom, type TestUser, tokens } from "../../support/rooms.ts";
import type { TestSocket } from "../../support/test-socket.ts";

/** Ends the room as a crash does, starts it again, and lets the delay of its first read pass, but not that of joins. */
async function restart(room: TestRoom): Promise<void> {
  await room.alarm();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  vi.spyOn(Math, "random").mockReturnValue(0.9); // holds joins for 5.5 s
  await room.crash();
  await pass(room, 450);
}
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const pass = (room: TestRoom, ms: number): Promise<unknown> =>
  room.inside(() => vi.advanceTimersByTimeAsync(ms));

/** Ends the time for which the room holds joins. */
const release = (room: TestRoom) => pass(room, 10_000);

const run = (sql: string, ...params: unknown[]) =>
  env.DB.prepare(sql)
    .bind(...params)
    .run();

/** Commits a command whose relay has not reached the room. */
const leaveBehind = ({ accountId, id }: TestRoom, command: object) =>
  run(
    "INSERT INTO outbox VALUES (?, ?, ?, ?, ?)",
    ...[crypto.randomUUID(), accountId, id, JSON.stringify(command), Date.now()],
  );

/** Deletes the rows of answered commands, as their requests do in a while: until then they seem to wait. */
const forgetAnswered = ({ id }: TestRoom) => run("DELETE FROM outbox WHERE room_id = ?", id);

/** Asks to join. */
async function asking(room: TestRoom, { token }: Pick<TestUser, "token">): Promise<TestSocket> {
  const socket = await room.connect();
  socket.send({ type: "JOIN_ROOM", data: { token } });
  return socket;
}

/** Whether a user who asks to join waits for the end of the hold. Lets others ask first, who do not wait. */
async function waits(room: TestRoom, user: Pick<TestUser, "token">): Promise<boolean> {
  const socket = await asking(room, user);
  let isAnswered = false;
  const answer = socket.nextResponse().then((response) => {
    isAnswered = true;
    return response.success;
  });
  for (let trips = 0; trips < 20; trips += 1) await room.inside(() => env.DB.prepare("SELECT 1").first());
  const isWaiting = !isAnswered;
  await release(room);
  await answer;
  return isWaiting;
}

describe("a user who comes back to a room that has restarted", () => {
  it("joins while the room holds the joins of others, with one read for all (R76)", async () => {
    const { room, ada, ben } = await roomOfTwo();
    const [before] = await room.sessions(ada);
    await restart(room);
    await DatabaseGate.during(room, async (gate) => {
      const joining = Promise.all([room.join(ada), room.join(ben), room.join(ada, "viewer")]);
      await gate.waitFor(1);
      await gate.open();
      const [atAda, , watching] = await joining;
      expect([atAda.joined.sessionId, atAda.joined.role]).toEqual([before?.id, "editor"]);
      expect([atAda.joined.users.length, watching.joined.role]).toEqual([2, "viewer"]);
      expect(gate.reached).toHaveLength(1);
      await release(room);
      await gate.waitFor(2);
      expect(gate.reached).toHaveLength(2);
      expect((await atAda.call("STORE_SET", { store: "s", key: "k", value: 1 })).success).toBe(true);
    });
  });

  it.each<[string, (two: Awaited<ReturnType<typeof roomOfTwo>>) => Promise<TestUser>]>([
    ["was not online", ({ room }) => room.user()],
    [
      "has a token of later epochs",
      async ({ ada }) => ({
        user: ada.user,
        token: await tokens.sign({
          ...{ ...ada.user, tokenEpoch: 1, accountTokenEpoch: 0, identityId: null, identityEpoch: null },
        }),
      }),
    ],
    [
      "was deleted, which the room has not learned",
      async ({ room, ada }) => {
        await run("DELETE FROM users WHERE id = ?", ada.user.id);
        await leaveBehind(room, { type: "user.deleted", userId: ada.user.id });
        return ada;
      },
    ],
    [
      "belongs to an organization of which the rooms behind another one have not learned of a change",
      async ({ room, ada }) => {
        const other = new TestRoom(room.accountId, crypto.randomUUID());
        await leaveBehind(other, { type: "tokens.ended", userId: null, behind: 1 });
        return ada;
      },
    ],
    [
      "had its tokens ended with all of the organization",
      async ({ room, ada }) => {
        await run("UPDATE accounts SET token_epoch = 1 WHERE id = ?", room.accountId);
        return ada;
      },
    ],
    [
      "is in a room that the database shows as empty, so that changes are not sent to it",
      async ({ room, ada }) => {
        await run("UPDATE rooms SET active_participants = 0, joining_until = 0 WHERE id = ?", room.id);
        return ada;
      },
    ],
  ])("waits with the others if it %s (R76)", async (_, prepare) => {
    const two = await roomOfTwo();
    await two.room.alarm();
    const user = await prepare(two);
    await restart(two.room);
    expect(await waits(two.room, user)).toBe(true);
  });

  it("waits once a command has reached the room since its start", async () => {
    const { room, ada, ben } = await roomOfTwo();
    await restart(room);
    await room.change(ada, { name: "New" });
    expect(await waits(room, ben)).toBe(true);
  });

  it("waits if it is not known whether the room has missed a change", async () => {
    const { room, ada } = await roomOfTwo();
    await restart(room);
    await room.inside((object) => {
      const { service } = Reflect.get(object, "runtime")() as { service: object };
      Reflect.set(service, "findEpochIfCurrent", () => Promise.reject(new Error("The database is away")));
    });
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    expect(await waits(room, ada)).toBe(true);
    log.mockRestore();
  });

  it.each<[string, string, number]>([
    ["has been deleted", "DELETE FROM users WHERE id = ?1", 4401],
    ["has lost its tokens", "UPDATE users SET token_epoch = 1 WHERE id = ?1", 4401],
    [
      "is in a room that was closed",
      "UPDATE rooms SET state = 'closed' WHERE id = (SELECT room_id FROM users WHERE id = ?1)",
      4403,
    ],
  ])("is closed by the later read if it %s without a command (R76)", async (_, change, code) => {
    const { room, ada } = await roomOfTwo();
    await restart(room);
    const atAda = await room.join(ada);
    await run(change, ada.user.id);
    await release(room);
    expect(await atAda.closed).toMatchObject({ code });
    expect(await room.online(ada)).toEqual([]);
  });

  it("is closed if the later read fails, and comes back by another one", async () => {
    const { room, ada } = await roomOfTwo();
    await restart(room);
    const atAda = await room.join(ada);
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const mend = await room.inside((object) => {
      const { service } = Reflect.get(object, "runtime")() as { service: object };
      const { readJoiners } = service as { readJoiners: unknown };
      Reflect.set(service, "readJoiners", () => Promise.reject(new Error("The database is away")));
      return () => Reflect.set(service, "readJoiners", readJoiners);
    });
    await release(room);
    expect(await atAda.closed).toMatchObject({ code: 1011 });
    log.mockRestore();
    await room.inside(mend);
    expect((await room.join(ada)).joined.users).toHaveLength(2);
  });
});

describe("what the room has stored of a user", () => {
  /** A room with an identity that edits, whose user is online, and the socket's token. */
  async function roomOfIdentity() {
    const owner = await account();
    const { api } = owner;
    const room = new TestRoom(owner.id, (await api.createRoom()).id);
    room.now = Date.now(); // as the API has signed the token
    const { identity } = (await api.post<{ identity: { id: string } }>("/identities", { name: "Ada" })).data;
    const identitiesAccesses = { [identity.id]: "editor" };
    await api.put(`/rooms/${room.id}/access`, { identitiesAccesses });
    const { token } = (await api.post<{ token: string }>(`/identities/${identity.id}/tokens`)).data;
    const ada = { token } as TestUser;
    const socket = await room.join(ada);
    await room.alarm();
    return { api, room, identityId: identity.id, ada, socket, userId: socket.joined.user.id };
  }

  it("is its access as of the last change, also if that came during the grace", async () => {
    const { api, room, identityId, ada, socket } = await roomOfIdentity();
    socket.close(4000);
    await socket.closed;
    await api.put(`/rooms/${room.id}/access`, { identitiesAccesses: { [identityId]: "viewer" } });
    await forgetAnswered(room);
    await restart(room);
    expect((await room.join(ada)).joined.role).toBe("viewer");
  });

  it("is its role as of the last change", async () => {
    const { api, room, ada, userId } = await roomOfIdentity();
    await api.patch(`/users/${userId}?roomId=${room.id}`, { role: "viewer" });
    await forgetAnswered(room);
    await restart(room);
    expect((await room.join(ada)).joined.role).toBe("viewer");
  });

  it.each<[string, (place: Awaited<ReturnType<typeof roomOfIdentity>>) => Promise<unknown>, string]>([
    ["tokens", ({ api, identityId }) => api.delete(`/identities/${identityId}/tokens`), "UNAUTHORIZED"],
    [
      "access",
      ({ api, room, identityId }) =>
        api.put(`/rooms/${room.id}/access`, { identitiesAccesses: { [identityId]: [BAN] } }),
      "FORBIDDEN",
    ],
  ])("goes with its %s, also during the grace", async (_, end, code) => {
    const place = await roomOfIdentity();
    const { room, ada, socket } = place;
    socket.close(4000);
    await socket.closed;
    await end(place);
    await forgetAnswered(room);
    await restart(room);
    const again = await asking(room, ada);
    await release(room);
    expect(await again.nextResponse()).toMatchObject({ success: false, error: { code } });
  });

  it("costs no row unless it is news", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    await room.join(ada);
    await room.alarm();
    const writes = () =>
      room.inside(
        (object) => (Reflect.get(object, "runtime")() as { storage: { writes: number } }).storage.writes,
      );
    const before = await writes();
    await room.join(ada);
    expect(await writes()).toBe(before);
  });
});
