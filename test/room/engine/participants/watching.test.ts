/** Sockets that only watch a room: they receive what happens, and no one learns of them. */
import { env } from "cloudflare:workers";
import { LIMITS } from "@atrium/contract/limits.ts";
import { describe, expect, it } from "vitest";
import { signUp } from "../../../support/person.ts";
import { joinRoom, openSocket } from "../../support/join.ts";
import { failed, makeRoom, roomOfTwo, type TestRoom, tokens } from "../../support/rooms.ts";

const tokenFor = ({ accountId, id: roomId, now }: TestRoom, accountEpoch = 0, age = 0): Promise<string> =>
  tokens.signWatch({ accountId, roomId, userId: "person", accountEpoch, iat: now / 1000 - age });

async function watch(room: TestRoom) {
  const socket = await room.connect();
  const answer = await socket.request("JOIN_ROOM", { token: await tokenFor(room), usersLimit: 10 });
  if (!answer.success) throw new Error(answer.error.message);
  await socket.call("PRESENCE_SUBSCRIBE", { target: "*", on: true });
  return Object.assign(socket, { joined: answer.data });
}

describe("a socket that only watches", () => {
  it("receives presence, broadcasts and writes, and is counted and shown nowhere, also after hibernation", async () => {
    const { room, ada, ben, atAda, atBen } = await roomOfTwo();
    const [before, online] = [await room.stats(), await room.row()];
    const watcher = await watch(room);
    expect(watcher.joined.users.map(({ id }) => id).sort()).toEqual([ada.user.id, ben.user.id].sort());
    await room.hibernate();
    await atAda.call("PRESENCE_UPDATE", { state: { x: 1 } });
    expect((await atAda.call("BROADCAST", { event: "wave" })).data).toEqual({ delivered: 1 });
    await atAda.call("STORE_SET", { store: "tasks", key: "milk", value: 1 });
    const seen = (await watcher.takeEvents()).map(({ event }) => event);
    expect(seen).toEqual(expect.arrayContaining(["presence", "broadcast", "storeChanged"]));
    expect(await room.stats()).toEqual(before);
    watcher.close();
    await watcher.closed;
    await room.advance(60_000);
    expect(await room.stats()).toMatchObject({ activeParticipants: before.activeParticipants });
    expect((await room.row()).totalUsersCreated).toBe(online.totalUsersCreated);
    const events = (await atBen.takeEvents()).map(({ event }) => event);
    expect(events).not.toContain("userJoined");
    expect(events).not.toContain("userLeft");
  });

  it("may write nothing, and show nothing", async () => {
    const { room, ada } = await roomOfTwo();
    const watcher = await watch(room);
    for (const [type, data] of [
      ["PRESENCE_UPDATE", { state: { x: 1 } }],
      ["BROADCAST", { event: "wave" }],
      ["STORE_SET", { store: "tasks", key: "milk", value: 1 }],
      ["COMMENT_CREATE", { text: "Hello" }],
      ["USER_FOLLOW", { userId: ada.user.id }],
      ["THREAD_READ", { threadId: crypto.randomUUID() }],
    ] as const)
      expect([type, await watcher.call(type, data)]).toEqual([type, failed("FORBIDDEN")]);
  });

  it("is one of so many of a person, as of a user", async () => {
    const { room } = await roomOfTwo();
    for (let each = 0; each < LIMITS.socketsPerUser; each++) await watch(room);
    const { answer } = await room.refusedJoin({ token: await tokenFor(room) });
    expect(answer).toMatchObject({ error: { code: "CONFLICT" } });
  });

  it("leaves a room unused that no one has joined, and stays only as long as its token, which ends with all others", async () => {
    const room = await makeRoom();
    const [watcher, late] = [await watch(room), await watch(room)];
    expect((await room.row()).firstJoinAt).toBeNull();
    await env.DB.prepare("UPDATE accounts SET token_epoch = 1 WHERE id = ?").bind(room.accountId).run();
    await room.apply({ type: "tokens.ended", userId: null });
    for (const socket of [watcher, late]) expect(await socket.closed).toMatchObject({ code: 4401 });
    const again = await room.connect();
    await again.request("JOIN_ROOM", { token: await tokenFor(room, 1, 299) });
    await room.advance(2_000);
    expect(await again.closed).toMatchObject({ code: 4401 });
  });

  it("needs a token for its own room, which must be open", async () => {
    const [room, other] = [await makeRoom(), await makeRoom()];
    const { code } = await room.refusedJoin({ token: await tokenFor(other) });
    expect(code).toBe(4403);
    await room.set("closed");
    const { answer } = await room.refusedJoin({ token: await tokenFor(room) });
    expect(answer).toMatchObject({ error: { code: "FORBIDDEN", message: "The room is closed" } });
  });
});

describe("the dashboard's token to watch", () => {
  it("is for members of the organization", async () => {
    const [ada, stranger] = [await signUp({ name: "Ada" }), await signUp({ name: "Eve" })];
    const path = `/organizations/${ada.organization.id}/rooms/${crypto.randomUUID()}/watch`;
    expect(await ada.browser.post(path)).toMatchObject({ status: 201, data: { token: expect.any(String) } });
    expect(await stranger.browser.post(path)).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
  });

  it.each(["the tokens of all users", "the organization"])(
    "ends with %s, also where no user is online",
    async (what) => {
      const { browser, organization, api } = await signUp();
      const room = await api.createRoom();
      const { data } = await browser.post<{ token: string }>(
        `/organizations/${organization.id}/rooms/${room.id}/watch`,
      );
      const socket = await joinRoom(organization.id, room.id, data.token);
      const { status } =
        what === "the organization"
          ? await api.delete("/organization", { confirm: organization.name })
          : await api.delete("/tokens");
      expect(status).toBe(200);
      expect(await socket.closed).toMatchObject({ code: 4401 });
      const refused = await openSocket(organization.id, room.id);
      const answer = await refused.request("JOIN_ROOM", { token: data.token });
      expect(answer).toMatchObject({ error: { code: "UNAUTHORIZED" } });
    },
  );
});
