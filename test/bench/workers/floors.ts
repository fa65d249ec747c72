/** The baselines: bare Hono routes with the same calls of D1, objects and R2 as Atrium. */
/// <reference types="@cloudflare/workers-types" />
import { DurableObject } from "cloudflare:workers";
import { Hono } from "hono";

export { EventLogObject, GuessLimitObject, RequestLogObject, SubscriberObject } from "./unused-objects.ts";

interface Env {
  readonly DB: D1Database;
  readonly ROOMS: DurableObjectNamespace<RoomObject>;
  readonly FILES: R2Bucket;
}

const ROOM_COLUMNS =
  "account_id, id, name, name_folded, custom_id, state, created_at, total_users_created, active_participants, " +
  "occupied_ms, occupied_since, figures_version";
const USER_COLUMNS =
  "id, account_id, room_id, name, name_folded, profile_picture, custom_id, role, created_at";
const ROOM = "account_id = ? AND id = ?";
const CREATED = "created_at BETWEEN ? AND ?";
const EVER = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
const USERS = `account_id = ? AND room_id = ? AND ${CREATED}`;
const PAGE = "ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?";

/** Answers like Atrium's object for a room that no one has joined. The name is that in wrangler.toml. */
export class RoomObject extends DurableObject<Env> {
  read(_userIds: string[]) {
    return { figures: { activeParticipants: 0, occupiedMs: 0, occupiedSince: null }, attendance: {} };
  }
}

const app = new Hono<{ Bindings: Env }>();

app.get("/json", (c) => c.json({ hello: "world" }));

app.get("/read/:account/:room", async (c) => {
  const { account, room } = c.req.param();
  const row = c.env.DB.prepare(`SELECT ${ROOM_COLUMNS} FROM rooms WHERE ${ROOM} LIMIT 1`).bind(account, room);
  return c.json(await row.first());
});

app.get("/:account/rooms/:room", async (c) => {
  const { account, room } = c.req.param();
  const { DB, ROOMS } = c.env;
  const [rooms, users, total] = await DB.batch<{ id: string }>([
    DB.prepare(`SELECT ${ROOM_COLUMNS} FROM rooms WHERE ${ROOM} LIMIT ?`).bind(account, room, 1),
    DB.prepare(`SELECT ${USER_COLUMNS} FROM users WHERE ${USERS} ${PAGE}`).bind(
      account,
      room,
      ...EVER,
      50,
      0,
    ),
    DB.prepare(`SELECT count(*) AS total FROM users WHERE ${USERS}`).bind(account, room, ...EVER),
  ]);
  const ids = users?.results.map((user) => user.id) ?? [];
  const live = await ROOMS.getByName(room).read(ids);
  return c.json({ rooms: rooms?.results, users: users?.results, total: total?.results, live });
});

app.get("/:account/rooms", async (c) => {
  const account = c.req.param("account");
  const { DB } = c.env;
  const [rooms, total] = await DB.batch([
    DB.prepare(`SELECT ${ROOM_COLUMNS} FROM rooms WHERE account_id = ? AND ${CREATED} ${PAGE}`).bind(
      account,
      ...EVER,
      50,
      0,
    ),
    DB.prepare(`SELECT count(*) AS total FROM rooms WHERE account_id = ? AND ${CREATED}`).bind(
      account,
      ...EVER,
    ),
  ]);
  return c.json({ rooms: rooms?.results, total: total?.results });
});

app.post("/:account/rooms", async (c) => {
  const { name } = await c.req.json<{ name: string }>();
  const row = [
    c.req.param("account"),
    crypto.randomUUID(),
    name,
    name.toUpperCase(),
    null,
    "active",
    Date.now(),
  ];
  const { DB } = c.env;
  await DB.batch([
    DB.prepare(`INSERT INTO rooms (${ROOM_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`).bind(
      ...row,
      0,
      0,
      0,
      null,
      0,
    ),
  ]);
  return c.json(row, 201);
});

app.post("/:account/users", async (c) => {
  const { name, roomId } = await c.req.json<{ name: string; roomId: string }>();
  const account = c.req.param("account");
  const row = [
    crypto.randomUUID(),
    account,
    roomId,
    name,
    name.toUpperCase(),
    null,
    null,
    "editor",
    Date.now(),
  ];
  const { DB } = c.env;
  await DB.batch([
    DB.prepare(`INSERT INTO users (${USER_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`).bind(...row),
    DB.prepare(`UPDATE rooms SET total_users_created = total_users_created + 1 WHERE ${ROOM}`).bind(
      account,
      roomId,
    ),
    DB.prepare(
      `INSERT INTO outbox (id, account_id, room_id, change, created_at) SELECT ?, ?, ?, ?, ?
       WHERE EXISTS (SELECT 1 FROM rooms WHERE ${ROOM} AND first_join_at IS NOT NULL) RETURNING id`,
    ).bind(crypto.randomUUID(), account, roomId, "{}", Date.now(), account, roomId),
    DB.prepare(
      `INSERT INTO outbox_events (id, account_id, event, room_id, occurred_at, room, subject, owed)
       SELECT ?, users.account_id, ?, rooms.id, ?, json_object('id', rooms.id), json_object('id', users.id), listeners.owed
       FROM (SELECT json_group_array(id) AS owed FROM (
               SELECT id, events FROM webhooks WHERE account_id = ? AND enabled AND (room_id IS NULL OR room_id = ?)
               UNION ALL
               SELECT id, events FROM workflows WHERE account_id = ? AND enabled AND (room_id IS NULL OR room_id = ?)
             ) WHERE instr(events, ?) HAVING count(*) > 0) AS listeners, users
       JOIN rooms ON rooms.account_id = users.account_id AND rooms.id = users.room_id
       WHERE users.account_id = ? AND users.room_id = ? AND users.id = ? RETURNING id`,
    ).bind(
      ...[crypto.randomUUID(), "user.created", Date.now()],
      ...[account, roomId, account, roomId, '"user.created"'],
      ...[account, roomId, row[0]],
    ),
  ]);
  return c.json(row, 201);
});

app.put("/r2", async (c) => {
  const key = crypto.randomUUID();
  await c.env.FILES.put(key, c.req.raw.body);
  return c.text(key, 201);
});

app.put("/r2/parts/:bytes", async (c) => {
  const bytes = new Uint8Array(await c.req.arrayBuffer());
  const partBytes = Number(c.req.param("bytes"));
  const key = crypto.randomUUID();
  const upload = await c.env.FILES.createMultipartUpload(key);
  const parts: R2UploadedPart[] = [];
  for (let offset = 0; offset < bytes.byteLength; offset += partBytes) {
    parts.push(await upload.uploadPart(parts.length + 1, bytes.subarray(offset, offset + partBytes)));
  }
  await upload.complete(parts);
  return c.text(key, 201);
});

app.get("/r2/:key", async (c) => {
  const object = await c.env.FILES.get(c.req.param("key"));
  return object === null ? c.notFound() : new Response(object.body);
});

app.delete("/r2/:key", async (c) => {
  await c.env.FILES.delete(c.req.param("key"));
  return c.text("removed");
});

export default app;
