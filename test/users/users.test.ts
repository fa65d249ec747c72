/** Users over REST. */

import type { UserSession } from "@atrium/contract/resources/user.ts";
import type { FoundUser, ListedUser, UserWithToken } from "@atrium/contract/rest/users.ts";
import { describe, expect, it } from "vitest";
import { findSeen } from "../../src/room/engine/participants/online-users.ts";
import { account } from "../support/api.ts";

interface UserAnswer {
  readonly user: UserWithToken;
  readonly sessions: UserSession[];
}

interface UserList {
  readonly users: ListedUser[];
  readonly total: number;
}

const claimsOf = (token: string): unknown => JSON.parse(atob(token.split(".")[1] ?? ""));

describe("a new user", () => {
  it("is offline, and has the token that reading it shows", async () => {
    const { id, api } = await account();
    const room = await api.createRoom();
    const body = {
      name: "Ada",
      roomId: room.id,
      customId: "a/1",
      profilePicture: "https://pictures.test/ada.png",
      role: "viewer",
    };
    const answer = await api.post<{ user: UserWithToken; token: string }>("/users", body);
    expect([answer.status, answer.description]).toEqual([201, "User created"]);
    const { user, token } = answer.data;
    expect(user).toEqual({
      id: expect.any(String),
      room_id: room.id,
      name: "Ada",
      profile_picture: "https://pictures.test/ada.png",
      custom_id: "a/1",
      role: "viewer",
      status: "offline",
      created_at: expect.any(String),
      token,
    });
    const iat = Math.floor(Date.parse(user.created_at) / 1000);
    expect(claimsOf(token)).toEqual({
      accountId: id,
      userId: user.id,
      roomId: room.id,
      role: "viewer",
      iat,
      exp: iat + 7_776_000,
    });
    const byId = await api.get<UserAnswer>(`/users/${user.id}?roomId=${room.id}`);
    const byCustomId = await api.get<UserAnswer>(`/users/custom/a%2F1?roomId=${room.id}`);
    const listed = await api.get<UserList>(`/users?roomId=${room.id}`);
    expect(byId.data).toEqual({ user, sessions: [] });
    expect(byCustomId.data).toEqual(byId.data);
    expect(listed.data.users).toEqual([user]);
  });

  it("is an editor by default, and omits fields that were not given", async () => {
    const { api } = await account();
    const user = await api.createUser((await api.createRoom()).id);
    expect(user.role).toBe("editor");
    for (const field of ["custom_id", "profile_picture", "joined_at"]) expect(user).not.toHaveProperty(field);
  });

  it("is counted, and its deletion does not lower the count", async () => {
    const { api } = await account();
    const room = await api.createRoom();
    const user = await api.createUser(room.id);
    await api.createUser(room.id);
    await api.delete(`/users/${user.id}?roomId=${room.id}`);
    const { data } = await api.get<{ room: object; usersTotal: number }>(`/rooms/${room.id}`);
    expect(data).toMatchObject({ room: { total_users_created: 2 }, usersTotal: 1 });
  });

  it("may have the custom ID of a user of another room, and of none in its own", async () => {
    const { api } = await account();
    for (const room of [await api.createRoom(), await api.createRoom()])
      expect((await api.createUser(room.id, { customId: "one" })).custom_id).toBe("one");
    const room = await api.createRoom();
    const create = () => api.post("/users", { name: "U", roomId: room.id, customId: "one" });
    const statuses = (await Promise.all([create(), create(), create()])).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([201, 409, 409]);
  });

  it.each([
    [{ name: undefined }, "name"],
    [{ roomId: undefined }, "roomId"],
    [{ role: "owner" }, "role"],
    [{ profilePicture: "javascript:alert(1)" }, "profilePicture"],
    [{ customId: "" }, "customId"],
    [{ customId: null }, "customId"],
  ])("is refused with %j, and the answer names the field", async (wrong, field) => {
    const { api } = await account();
    const room = await api.createRoom();
    const answer = await api.post("/users", { name: "U", roomId: room.id, ...wrong });
    expect([answer.status, answer.error?.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.error?.message).toContain(field);
  });
});

describe("finding users", () => {
  it("matches parts of names and beginnings of IDs", async () => {
    const { api } = await account();
    const room = await api.createRoom();
    const ada = await api.createUser(room.id, { name: "Ada_100%" });
    await api.createUser(room.id, { name: "Bob" });
    const found = async (search: string) =>
      (await api.get<UserList>(`/users?${new URLSearchParams({ roomId: room.id, search })}`)).data.users.map(
        (user) => user.id,
      );
    expect(await found("DA_1")).toEqual([ada.id]);
    expect(await found("0%")).toEqual([ada.id]);
    expect(await found("%")).toEqual([ada.id]);
    expect(await found("d%")).toEqual([]);
    expect(await found(ada.id)).toEqual([ada.id]);
    expect(await found(ada.id.slice(0, 20))).toEqual([ada.id]);
    expect(await found(`${ada.id}0`)).toEqual([]);
  });

  it("searches one room only, also by custom ID", async () => {
    const { api } = await account();
    const [room, other] = [await api.createRoom(), await api.createRoom()];
    const user = await api.createUser(room.id, { customId: "c" });
    expect((await api.get(`/users/${user.id}?roomId=${other.id}`)).status).toBe(404);
    expect((await api.get(`/users/custom/c?roomId=${other.id}`)).error).toMatchObject({
      module: "Users",
      code: "NOT_FOUND",
    });
    expect((await api.get(`/users?roomId=${other.id}`)).data.total).toBe(0);
  });
});

it("finding users of all rooms tells the room of each, page after page, and shows no token", async () => {
  const { api } = await account();
  const [plan, empty, archive] = [
    await api.createRoom({ name: "Weekly planning" }),
    await api.createRoom(),
    await api.createRoom({ name: "Archive" }),
  ];
  await api.createUser(archive.id, { name: "Ada L.", customId: "ada-1" });
  const { token, ...ada } = await api.createUser(plan.id, { name: "Ada" });
  await api.createUser(empty.id, { name: "Bo" });
  const find = async (query: string) =>
    (await api.get<{ users: FoundUser[]; cursor: string | null }>(`/organization/users?${query}`)).data;
  const { status: _, ...fields } = ada;
  expect((await find(`search=${ada.id.slice(0, 13)}`)).users).toEqual([
    { ...fields, room_name: "Weekly planning" },
  ]);
  const first = await find("search=aDA&limit=1");
  const next = await find(`search=aDA&limit=1&after=${first.cursor}`);
  expect([...first.users, ...next.users].map(({ name }) => name).toSorted()).toEqual(["Ada", "Ada L."]);
  expect([next.users.length, next.cursor]).toEqual([1, null]);
  expect((await find("")).users.length).toBe(3);
  await api.delete(`/rooms/${plan.id}`);
  expect((await find("search=ada")).users.map((user) => user.room_name)).toEqual(["Archive"]);
  const wrong = await api.get("/organization/users?after=nothing");
  expect([wrong.status, wrong.error?.code]).toEqual([400, "BAD_REQUEST"]);
});

describe("a user's own token", () => {
  it("lists its room, and shows no token but its own", async () => {
    const { api } = await account();
    const room = await api.createRoom();
    const [ada, bob] = [
      await api.createUser(room.id, { name: "Ada" }),
      await api.createUser(room.id, { name: "Bob" }),
    ];
    const { data } = await api.as(ada.token).get<UserList>(`/users?roomId=${room.id}`);
    const tokens = Object.fromEntries(data.users.map((user) => [user.id, user.token]));
    expect(tokens).toEqual({ [ada.id]: ada.token, [bob.id]: undefined });
  });

  it("is accepted whatever the case of the scheme", async () => {
    const { api } = await account();
    const room = await api.createRoom();
    const user = await api.createUser(room.id);
    for (const scheme of ["bearer", "BEARER", "bEaReR  "]) {
      const answer = await api.get(`/users?roomId=${room.id}`, {
        headers: { Authorization: `${scheme} ${user.token}` },
      });
      expect(answer.status, scheme).toBe(200);
    }
  });
});

describe("changing a user", () => {
  it("sets the fields that are given and no others", async () => {
    const { api } = await account();
    const room = await api.createRoom();
    const user = await api.createUser(room.id, {
      customId: "c",
      profilePicture: "https://pictures.test/u.png",
    });
    const path = `/users/${user.id}?roomId=${room.id}`;
    const renamed = await api.patch<{ user: UserWithToken }>(path, { name: "Änna" });
    expect(renamed.data.user).toEqual({ ...user, name: "Änna" });
    const bare = await api.patch<{ user: UserWithToken }>(path, { customId: null, profilePicture: null });
    const { custom_id: _, profile_picture: __, ...rest } = renamed.data.user;
    expect(bare.data.user).toEqual(rest);
    expect((await api.get(`/users?roomId=${room.id}&search=änna`)).data.total).toBe(1);
  });
});

it("deleting a user deletes it, and its token is refused from then on", async () => {
  const { api } = await account();
  const room = await api.createRoom();
  const user = await api.createUser(room.id, { customId: "c" });
  const path = `/users/${user.id}?roomId=${room.id}`;
  expect((await api.delete(path)).data).toEqual({});
  expect((await api.get(path)).status).toBe(404);
  expect((await api.delete(path)).status).toBe(404);
  expect((await api.as(user.token).get(`/users?roomId=${room.id}`)).error?.code).toBe("UNAUTHORIZED");
  await api.createUser(room.id, { customId: "c" });
});

it("filters a room's users by who is online and when they were last seen, beside their names, page after page", async () => {
  const owner = await account();
  const room = await owner.api.createRoom();
  const ids: Record<string, string> = {};
  for (const name of ["Ada", "Bo", "Cleo", "Dan"])
    ids[name] = (await owner.api.createUser(room.id, { name })).id;
  const participants = `/rooms/${room.id}/participants`;
  for (const name of ["Ada", "Bo", "Cleo"])
    expect((await owner.api.put(`${participants}/${ids[name]}`, { ttl: 60 })).status).toBe(200);
  await owner.api.delete(`${participants}/${ids.Cleo}`);
  const list = async (query: Record<string, string>) => {
    const { data } = await owner.api.get<{ users: { name: string }[]; total: number; cursor: string | null }>(
      `/users?${new URLSearchParams({ roomId: room.id, sort: "name", ...query })}`,
    );
    return { names: data.users.map(({ name }) => name), total: data.total, cursor: data.cursor };
  };
  expect(await list({ online: "true" })).toEqual({ names: ["Ada", "Bo"], total: 2, cursor: null });
  expect(await list({ online: "false" })).toEqual({ names: ["Cleo", "Dan"], total: 2, cursor: null });
  // Letters that no ID has: a search finds by the beginning of an ID, too.
  expect(await list({ online: "false", search: "L" })).toMatchObject({ names: ["Cleo"], total: 1 });
  expect(await list({ online: "true", search: "o" })).toMatchObject({ names: ["Bo"], total: 1 });
  const first = await list({ online: "true", limit: "1" });
  expect(first).toMatchObject({ names: ["Ada"], total: 2 });
  expect(await list({ limit: "1", online: "true", after: first.cursor ?? "" })).toMatchObject({
    names: ["Bo"],
  });
  const today = new Date().toISOString();
  expect(await list({ lastSeenFrom: "2026-01-01" })).toMatchObject({
    names: ["Ada", "Bo", "Cleo"],
    total: 3,
  });
  expect(await list({ lastSeenFrom: "2026-01-01", online: "false" })).toMatchObject({ names: ["Cleo"] });
  expect(await list({ lastSeenTo: "2026-01-01" })).toMatchObject({ names: [], total: 0 });
  expect(await list({ lastSeenFrom: today, online: "true" })).toMatchObject({ names: ["Ada", "Bo"] });
  const refused = await owner.api.get(`/users?roomId=${room.id}&lastSeenFrom=soon`);
  expect([refused.status, refused.error?.message]).toEqual([400, expect.stringContaining("lastSeenFrom")]);
  expect((await owner.api.get(`/users?roomId=${crypto.randomUUID()}&online=true`)).status).toBe(404);
});

it("a user was last seen when the latest session ended, and is seen now while online", () => {
  const stays = [
    { userId: "ada", leftAt: null },
    { userId: "bo", leftAt: 50 },
    { userId: "ada", leftAt: 40 },
    { userId: "bo", leftAt: 20 },
  ];
  const sessions = {
    open: () => [{ user: { id: "ada" } }, { user: { id: "old" } }],
    latestStays: () => stays,
  };
  const find = (filter: object) =>
    findSeen(sessions, { online: null, from: null, to: null, now: 100, ...filter });
  expect(find({ from: 30 }).userIds).toEqual(["ada", "bo", "old"]);
  expect(find({ to: 45 }).userIds).toEqual([]);
  expect(find({ from: 50, to: 50 }).userIds).toEqual(["bo"]);
  expect(find({ from: 30, online: false }).userIds).toEqual(["bo"]);
  expect(find({ to: 90, online: true }).userIds).toEqual([]);
  expect(find({ online: false })).toEqual({ userIds: ["ada", "old"], isExcluding: true });
});
