/** Users by who is online, and by when each was last seen. */
import { expect, it } from "vitest";
import { findSeen } from "../../src/room/engine/participants/online-users.ts";
import { account } from "../support/api.ts";

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
