/** What no framework of ours could beat: bare Hono routes that run the very D1 batches and object calls of Atrium. */
/// <reference types="@cloudflare/workers-types" />
import { DurableObject } from "cloudflare:workers";
import { Hono } from "hono";

export { SubscriberObject } from "./no-subscriber.ts";

interface Env {
  readonly DB: D1Database;
  readonly ROOMS: DurableObjectNamespace<RoomObject>;
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

/** Answers what Atrium's object answers about a room that nobody has joined yet. Named as wrangler.toml has it. */
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
  ]);
  return c.json(row, 201);
});

export default app;
