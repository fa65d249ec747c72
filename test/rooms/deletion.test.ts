/** Rooms are deleted at once, however much is in them; the rows of large ones are removed in chunks. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { collectGarbage } from "../../src/features/files/storage/garbage-collection.ts";
import { purgeDeletedRooms } from "../../src/features/rooms/commands.ts";
import { openDirectory } from "../../src/platform/d1/databases.ts";
import { WorkBudget } from "../../src/platform/flow/work-budget.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { blobs, insertFiles } from "../files/upload-form.ts";
import { account } from "../support/api.ts";
import { usesOf } from "../support/quotas.ts";
import { rowsTouchedBy } from "../support/rows-read.ts";

const USERS = 3_400;
const FILES = 1_700;
const FILE_BYTES = 7;
/** More than a user's row costs to delete and a file's to hide, with what triggers count. */
const ROWS_PER_USER = 16;
const SLICE = 1_000;

/** A room with so many users and files, beside another one. */
async function withLargeRoom(users = USERS, files = FILES) {
  const owner = await account();
  const other = await owner.api.createRoom({ name: "Small" });
  await owner.api.createUser(other.id);
  const room = await owner.api.createRoom({ name: "Large", customId: "large" });
  const user = await owner.api.createUser(room.id, { customId: "ada" });
  const fields = { roomId: room.id, userId: user.id };
  const { data } = await owner.api.upload(fields, new File(["Hello"], "hello.txt"));
  await env.DB.prepare(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT ?3)
     INSERT INTO users (id, account_id, room_id, name, name_folded, role, created_at)
     SELECT printf('%s-0000-4000-8000-%012d', substr(?1, 1, 8), n), ?1, ?2, 'User ' || n, 'USER ' || n, 'editor', n FROM numbers`,
  )
    .bind(owner.id, room.id, users)
    .run();
  await insertFiles({ id: owner.id, ...fields }, files, { size: FILE_BYTES });
  return { owner, room, user, other, fileKey: data.file.key };
}

const count = async (table: string, roomId: string) =>
  (
    await env.DB.prepare(
      `SELECT count(*) AS n FROM ${table} WHERE ${table === "rooms" ? "id" : "room_id"} = ?`,
    )
      .bind(roomId)
      .first<{ n: number }>()
  )?.n;

const remainsOf = async (roomId: string) => ({
  rooms: await count("rooms", roomId),
  users: await count("users", roomId),
  files: await count("files", roomId),
});

describe("deleting a large room", () => {
  it("touches a bounded number of rows, and as many of a room that is twice as large", async () => {
    const rows: number[] = [];
    for (const size of [USERS, 2 * USERS]) {
      const { owner, room } = await withLargeRoom(size, 0);
      const touched = await rowsTouchedBy(() => owner.api.delete(`/rooms/${room.id}`));
      expect(touched.written).toBeLessThan(SLICE * ROWS_PER_USER);
      expect(touched.read).toBeLessThan(SLICE * ROWS_PER_USER);
      expect(await count("users", room.id)).toBe(size + 1 - SLICE);
      rows.push(touched.written);
    }
    expect(Math.abs((rows[0] ?? 0) - (rows[1] ?? 0))).toBeLessThan(100);
  });

  it("deletes it for all who ask, before its rows are removed", async () => {
    const { owner, room, user, other, fileKey } = await withLargeRoom();
    const { api } = owner;
    expect(await usesOf(owner)).toMatchObject({
      rooms: 2,
      users: USERS + 2,
      file_bytes: FILES * FILE_BYTES + 5,
    });
    expect((await api.delete(`/rooms/${room.id}`)).status).toBe(200);
    expect(await remainsOf(room.id)).toMatchObject({ rooms: 1, users: USERS + 1 - SLICE });

    expect((await api.get<{ rooms: { id: string }[]; total: number }>("/rooms")).data).toMatchObject({
      ...{ rooms: [{ id: other.id }], total: 1 },
    });
    for (const query of ["search=large", "state=closed", "online=true", "to=2999-01-01&search=large"])
      expect((await api.get(`/rooms?${query}`)).data).toMatchObject({ rooms: [], total: 0 });
    expect(await usesOf(owner)).toMatchObject({ rooms: 1, users: 1, file_bytes: 0 });
    expect((await api.get("/overview")).data).toMatchObject({ rooms_total: 1, users_total: 1 });
    expect((await api.as(user.token).get(`/rooms/${room.id}`)).status).toBe(401);
    await expect.poll(async () => (await api.raw("GET", `/storage/${fileKey}`)).status).toBe(404);
    expect((await api.get("/organization/files?search=a")).data.files).toEqual([]);
    expect((await api.delete(`/rooms/${room.id}`)).status).toBe(404);
    expect((await api.post("/users", { name: "Late", roomId: room.id })).status).toBe(404);
    // Its custom ID is free, and the new room is not the old one.
    const again = await api.createRoom({ customId: "large" });
    expect((await api.get(`/rooms/custom/large`)).data).toMatchObject({ room: { id: again.id } });
    expect((await api.get(`/users?roomId=${again.id}`)).data.total).toBe(0);
  });

  it("is continued wherever it was cut off, and counts nothing twice", async () => {
    const { owner, room } = await withLargeRoom();
    const db = openDirectory(env);
    await purgeDeletedRooms(db); // what earlier tests have left
    await owner.api.delete(`/rooms/${room.id}`);
    const left: (number | undefined)[] = [];
    while ((await count("rooms", room.id)) === 1) {
      const touched = await rowsTouchedBy(() => purgeDeletedRooms(db, new WorkBudget(1)));
      expect(touched.written).toBeLessThan(SLICE * ROWS_PER_USER);
      left.push(await count("users", room.id));
      expect(await usesOf(owner)).toMatchObject({ rooms: 1, users: 1, file_bytes: 0 });
    }
    expect(left).toEqual([USERS + 1 - 2 * SLICE, USERS + 1 - 3 * SLICE, 0]);
    await purgeDeletedRooms(db);
    await collectGarbage(db, blobs, Date.now());
    expect(await remainsOf(room.id)).toEqual({ rooms: 0, users: 0, files: 0 });
    expect(await usesOf(owner)).toMatchObject({ rooms: 1, users: 1, file_bytes: 0 });
  });

  it("is completed by the cron trigger, with one event, however often it was asked for", async () => {
    const { owner, room } = await withLargeRoom();
    const requests = [1, 2].map(() => owner.api.delete(`/rooms/${room.id}`));
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 404]);
    expect((await owner.api.delete(`/rooms/${room.id}`)).status).toBe(404);
    await runScheduledTasks(env, Date.now());
    expect(await remainsOf(room.id)).toMatchObject({ rooms: 0, users: 0 });
    const eventsOf = async () =>
      (await owner.api.get<{ events: { event: string }[] }>("/events?events=room.deleted")).data.events;
    await expect.poll(async () => (await eventsOf()).length).toBe(1);
    await runScheduledTasks(env, Date.now() + 60_000);
    expect(await eventsOf()).toHaveLength(1);
  });

  it("takes its names out of the index of searches with the deletion, and the index of its users in chunks", async () => {
    const { owner, room } = await withLargeRoom();
    const insert = "INSERT INTO search_lists (account_id, room_id, state) VALUES (?, ?, 'building')";
    for (const roomId of ["", room.id]) await env.DB.prepare(insert).bind(owner.id, roomId).run();
    const itemsOf = (roomId: string) =>
      env.DB.prepare(
        "SELECT count(*) AS n FROM search_items WHERE list = (SELECT number FROM search_lists WHERE account_id = ? AND room_id = ?)",
      )
        .bind(owner.id, roomId)
        .first<{ n: number }>();
    await runScheduledTasks(env, Date.now());
    expect([await itemsOf(""), await itemsOf(room.id)]).toEqual([{ n: 2 }, { n: USERS + 1 }]);
    const touched = await rowsTouchedBy(() => owner.api.delete(`/rooms/${room.id}`));
    expect(touched.written).toBeLessThan(SLICE * ROWS_PER_USER);
    expect([await itemsOf(""), await itemsOf(room.id)]).toEqual([{ n: 1 }, { n: USERS + 1 }]);
    expect((await owner.api.get("/rooms?search=large")).data).toMatchObject({ rooms: [], total: 0 });
    await runScheduledTasks(env, Date.now());
    expect(await itemsOf(room.id)).toEqual({ n: 0 });
  });

  it("lets no other deleted room wait for it", async () => {
    const [large, small] = [await withLargeRoom(25_000, 0), await withLargeRoom(SLICE, 0)];
    for (const { owner, room } of [large, small]) await owner.api.delete(`/rooms/${room.id}`);
    await purgeDeletedRooms(openDirectory(env));
    expect(await count("rooms", large.room.id)).toBe(1);
    expect(await count("rooms", small.room.id)).toBe(0);
    await purgeDeletedRooms(openDirectory(env));
    expect(await count("rooms", large.room.id)).toBe(0);
  });

  it.each([
    ["fails", "The rows cannot be deleted", "rejected"],
    ["belongs to an organization that has begun to move", "organization_is_fenced", "fulfilled"],
  ])("lets no other deleted room wait for one that %s", async (_, message, status) => {
    const [first, second] = [await withLargeRoom(SLICE, 0), await withLargeRoom(SLICE, 0)];
    for (const { owner, room } of [first, second]) await owner.api.delete(`/rooms/${room.id}`);
    await env.DB.prepare("UPDATE rooms SET deleted_at = 1 WHERE id = ?").bind(first.room.id).run();
    await env.DB.prepare(
      `CREATE TRIGGER refusing BEFORE DELETE ON users WHEN old.room_id = '${first.room.id}'
       BEGIN SELECT RAISE(ABORT, '${message}'); END`,
    ).run();
    const purge = () => Promise.allSettled([purgeDeletedRooms(openDirectory(env))]);
    const [purged] = await purge();
    await env.DB.prepare("DROP TRIGGER refusing").run();
    expect([await count("rooms", first.room.id), await count("rooms", second.room.id)]).toEqual([1, 0]);
    expect(purged?.status).toBe(status);
    expect(await purge()).toMatchObject([{ status: "fulfilled" }]);
    expect(await count("rooms", first.room.id)).toBe(0);
  });
});

it("the total of a room's files is a counter, however many they are", async () => {
  const { owner, room, fileKey } = await withLargeRoom(0, FILES);
  const list = () => owner.api.get<{ total: number }>(`/files?roomId=${room.id}&limit=5`);
  expect((await list()).data.total).toBe(FILES + 1);
  expect((await rowsTouchedBy(list)).read).toBeLessThan(50);
  await owner.api.deleteFile(fileKey);
  expect((await list()).data.total).toBe(FILES);
  expect((await owner.api.get(`/files?roomId=${room.id}&mimeType=a/b&limit=5`)).data.total).toBe(FILES);
});
