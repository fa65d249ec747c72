/** Tokens that are issued for a time, and tokens that are ended: over REST, and in open sockets. */

import type { IssuedToken, ListedUser, UserWithToken } from "@atrium/contract/rest/users.ts";
import { describe, expect, it } from "vitest";
import { joinRoom, openSocket } from "../room/support/join.ts";
import { type Account, type Answer, type Api, account } from "../support/api.ts";
import { addMember } from "../support/person.ts";

const ENDED = { event: "authFailed", data: { code: "UNAUTHORIZED" } };

async function setUp() {
  const owner = await account();
  const room = await owner.api.createRoom();
  const user = await owner.api.createUser(room.id);
  return { owner, api: owner.api, room, user, tokensPath: `/users/${user.id}/tokens?roomId=${room.id}` };
}

const issue = async (api: Api, path: string, body: object): Promise<IssuedToken> =>
  (await api.post<IssuedToken>(path, body)).data;

const statusWith = async ({ api }: Account, roomId: string, token: string): Promise<number> =>
  (await api.as(token).get(`/users?roomId=${roomId}`)).status;

const claimsOf = (token: string): { readonly iat: number; readonly exp: number; readonly role: string } =>
  JSON.parse(atob(token.split(".")[1] ?? ""));

const lifeOf = (token: string): number => claimsOf(token).exp - claimsOf(token).iat;

const errorOf = ({ status, error }: Answer) => [status, error?.code, error?.message];

describe("a short-lived token", () => {
  it("opens what its user's token opens, for the time and with the role that were asked for", async () => {
    const { owner, api, room, tokensPath } = await setUp();
    const answer = await api.post<IssuedToken>(tokensPath, { ttl: 60, role: "viewer" });
    expect([answer.status, answer.description]).toEqual([201, "Token created"]);
    const { token, role, expires_at } = answer.data;
    expect([role, claimsOf(token).role, lifeOf(token)]).toEqual(["viewer", "viewer", 60]);
    expect(Date.parse(expires_at)).toBe(claimsOf(token).exp * 1000);
    expect(await statusWith(owner, room.id, token)).toBe(200);
    const socket = await openSocket(owner.id, room.id);
    const response = await socket.request("JOIN_ROOM", { token, role: "editor" });
    expect(response).toMatchObject({ success: true, data: { role: "viewer" } });
  });

  it("has the user's own role by default, and never a higher one", async () => {
    const { api, room } = await setUp();
    const viewer = await api.createUser(room.id, { role: "viewer" });
    const path = `/users/${viewer.id}/tokens?roomId=${room.id}`;
    expect((await issue(api, path, { ttl: 60 })).role).toBe("viewer");
    expect(errorOf(await api.post(path, { ttl: 60, role: "editor" }))).toEqual([
      400,
      "VALIDATION_ERROR",
      "role: the user is a viewer, and a token cannot have a higher role",
    ]);
  });

  it.each([59, 60.5, 7_776_001, "60", undefined])("is not issued for %j seconds", async (ttl) => {
    const { api, tokensPath } = await setUp();
    const answer = await api.post(tokensPath, { ttl });
    expect([answer.status, answer.error?.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.error?.message).toContain("ttl");
  });

  it("is the same one when its creation is repeated with the same Idempotency-Key", async () => {
    const { api, tokensPath } = await setUp();
    const create = () =>
      api.post<IssuedToken>(tokensPath, { ttl: 60 }, { headers: { "Idempotency-Key": "k" } });
    const [first, second] = [await create(), await create()];
    expect(second.data).toEqual(first.data);
    expect(second.headers.get("Idempotency-Replayed")).toBe("true");
  });
});

describe("ending a user's tokens", () => {
  it("refuses all of them and closes the sockets that joined with them, and no others", async () => {
    const { owner, api, room, user, tokensPath } = await setUp();
    const other = await api.createUser(room.id);
    const { token: short } = await issue(api, tokensPath, { ttl: 60 });
    const sockets = [await joinRoom(owner.id, room.id, user.token), await joinRoom(owner.id, room.id, short)];
    const bystander = await joinRoom(owner.id, room.id, other.token);
    const answer = await api.delete(tokensPath);
    expect([answer.status, answer.description, answer.data]).toEqual([200, "Tokens ended", {}]);
    for (const socket of sockets) {
      expect(await socket.nextEvent()).toMatchObject({ event: "userJoined", data: { userId: other.id } });
      expect(await socket.nextEvent()).toMatchObject(ENDED);
      expect(await socket.closed).toMatchObject({ code: 4401 });
    }
    for (const token of [user.token, short]) {
      expect(await statusWith(owner, room.id, token)).toBe(401);
      const socket = await openSocket(owner.id, room.id);
      expect(await socket.request("JOIN_ROOM", { token })).toMatchObject({ error: { code: "UNAUTHORIZED" } });
    }
    expect(await statusWith(owner, room.id, other.token)).toBe(200);
    expect(await bystander.call("ROOM_GET")).toMatchObject({ success: true });
  });

  it("gives the user a new token, valid for 90 days, which every read shows from then on", async () => {
    const { owner, api, room, user, tokensPath } = await setUp();
    await api.delete(tokensPath);
    const path = `/users/${user.id}?roomId=${room.id}`;
    const { token } = (await api.get<{ user: UserWithToken }>(path)).data.user;
    expect(token).not.toBe(user.token);
    expect(lifeOf(token)).toBe(7_776_000);
    expect((await api.get<{ user: UserWithToken }>(path)).data.user.token).toBe(token);
    const renamed = await api.patch<{ user: UserWithToken }>(path, { name: "Ada L." });
    expect(renamed.data.user.token).toBe(token);
    const listed = await api.get<{ users: ListedUser[] }>(`/users?roomId=${room.id}`);
    expect(listed.data.users[0]?.token).toBe(token);
    expect(await statusWith(owner, room.id, token)).toBe(200);
    const socket = await joinRoom(owner.id, room.id, token);
    await api.delete(tokensPath);
    expect(await socket.closed).toMatchObject({ code: 4401 });
    expect(await statusWith(owner, room.id, token)).toBe(401);
  });

  it("is not undone by a repeated creation with the same Idempotency-Key", async () => {
    const { owner, api, room } = await setUp();
    const create = () =>
      api.post<{ user: UserWithToken; token: string }>(
        "/users",
        { name: "Ada", roomId: room.id },
        { headers: { "Idempotency-Key": "k" } },
      );
    const { user, token } = (await create()).data;
    expect((await create()).data.token).toBe(token);
    await api.delete(`/users/${user.id}/tokens?roomId=${room.id}`);
    const again = (await create()).data;
    expect(again.token).not.toBe(token);
    expect(await statusWith(owner, room.id, again.token)).toBe(200);
  });
});

it("tokens are neither issued nor ended for a user of another room or organization, nor issued by a user", async () => {
  const { owner, api, room, user, tokensPath } = await setUp();
  const elsewhere = `/users/${user.id}/tokens?roomId=${(await api.createRoom()).id}`;
  const stranger = (await account()).api;
  for (const answer of [
    await api.post(elsewhere, { ttl: 60 }),
    await api.delete(elsewhere),
    await stranger.post(tokensPath, { ttl: 60 }),
    await stranger.delete(tokensPath),
  ])
    expect(answer.status).toBe(404);
  expect((await api.as(user.token).post(tokensPath, { ttl: 60 })).status).toBe(403);
  expect(await statusWith(owner, room.id, user.token)).toBe(200);
});

describe("ending an organization's tokens", () => {
  it("refuses those of all its users and closes their sockets; other organizations keep theirs", async () => {
    const [here, elsewhere] = [await setUp(), await setUp()];
    const secondRoom = await here.api.createRoom();
    const second = await here.api.createUser(secondRoom.id);
    const sockets = [
      await joinRoom(here.owner.id, here.room.id, here.user.token),
      await joinRoom(here.owner.id, secondRoom.id, second.token),
    ];
    const spared = await joinRoom(elsewhere.owner.id, elsewhere.room.id, elsewhere.user.token);
    for (const { id } of [here.room, secondRoom]) await here.api.post(`/rooms/${id}/reconcile`); // copies the stats
    const answer = await here.api.delete("/tokens");
    expect([answer.status, answer.description, answer.data]).toEqual([200, "All tokens ended", {}]);
    for (const socket of sockets) expect(await socket.closed).toMatchObject({ code: 4401 });
    expect(await statusWith(here.owner, here.room.id, here.user.token)).toBe(401);
    expect(await statusWith(elsewhere.owner, elsewhere.room.id, elsewhere.user.token)).toBe(200);
    expect(await spared.request("ROOM_GET")).toMatchObject({ success: true });
    const later = await here.api.createUser(here.room.id);
    expect(await statusWith(here.owner, here.room.id, later.token)).toBe(200);
    const path = `/users/${later.id}?roomId=${here.room.id}`;
    expect((await here.api.get<{ user: UserWithToken }>(path)).data.user.token).toBe(later.token);
    await joinRoom(here.owner.id, here.room.id, later.token);
  });

  it("is for owners and API keys", async () => {
    const { owner, api, user } = await setUp();
    const member = await addMember(owner.id, "member");
    expect((await member.browser.api(owner.id).delete("/tokens")).status).toBe(403);
    expect((await api.as(user.token).delete("/tokens")).status).toBe(403);
    const head = await addMember(owner.id, "owner");
    expect((await head.browser.api(owner.id).delete("/tokens")).status).toBe(200);
  });
});

describe("a member of the dashboard", () => {
  it("sees tokens that last an hour, never the lasting one", async () => {
    const { owner, room, user } = await setUp();
    const api = (await addMember(owner.id)).browser.api(owner.id);
    const read = await api.get<{ user: UserWithToken }>(`/users/${user.id}?roomId=${room.id}`);
    const listed = await api.get<{ users: ListedUser[] }>(`/users?roomId=${room.id}`);
    const created = await api.createUser(room.id);
    for (const token of [read.data.user.token, listed.data.users[0]?.token ?? "", created.token]) {
      expect(lifeOf(token)).toBe(3_600);
      expect(await statusWith(owner, room.id, token)).toBe(200);
    }
  });

  it("issues tokens for an hour at most", async () => {
    const { owner, tokensPath } = await setUp();
    const api = (await addMember(owner.id)).browser.api(owner.id);
    const { data } = await api.post<{ identity: { id: string } }>("/identities", { name: "Ada" });
    for (const path of [tokensPath, `/identities/${data.identity.id}/tokens`]) {
      expect(lifeOf((await issue(api, path, { ttl: 3_600 })).token)).toBe(3_600);
      expect(errorOf(await api.post(path, { ttl: 3_601 }))).toEqual([
        400,
        "VALIDATION_ERROR",
        "ttl: must be at most 3600 in the dashboard; use an API key for more",
      ]);
    }
  });
});
