/** The baselines: bare Hono routes with the same calls of D1, objects and R2 as Atrium. */
/// <reference types="@cloudflare/workers-types" />
import { DurableObject } from "cloudflare:workers";
import { Hono } from "hono";
import { shardOf } from "../../../../src/delivery/event-log/shards.ts";
import { deleteRelayed } from "../../../../src/delivery/outbox/outbox-store.ts";
import type { OutgoingEvent } from "../../../../src/delivery/outbox/subscription.ts";
import type { OutboxEventRow } from "../../../../src/delivery/outbox/table.ts";
import { type Batch, recordRoom, recordUser, renew } from "./recorded-creations.ts";

export {
  GuessLimitObject,
  InboxObject,
  RequestLogObject,
  RequestRateObject,
  SubscriberObject,
} from "./unused-objects.ts";

interface Env {
  readonly DB: D1Database;
  readonly ROOMS: DurableObjectNamespace<RoomObject>;
  readonly EVENT_LOGS: DurableObjectNamespace<EventLogObject>;
  readonly FILES: R2Bucket;
}

const ROOM_COLUMNS =
  "account_id, id, name, name_folded, custom_id, state, created_at, total_users_created, active_participants, " +
  "occupied_ms, occupied_since, stats_version";
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
    return { figures: { activeParticipants: 0, occupiedMs: 0, occupiedSince: null }, lastSeen: {} };
  }
}

/** Stores each event once, as Atrium's log does, and does nothing else. The name is that in wrangler.toml. */
export class EventLogObject extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, body TEXT)",
    );
  }

  append(events: readonly OutgoingEvent[]) {
    for (const { eventId, body } of events)
      this.ctx.storage.sql.exec("INSERT OR IGNORE INTO events (id, body) VALUES (?, ?)", eventId, body);
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

/** The batches of Atrium's creations, once they are recorded. */
const recorded = new Map<string, Promise<Batch>>();
/** The events of earlier creations whose rows are still in the outbox. */
const logged: string[] = [];
const CLEARED_AT_ONCE = 50;

/** Runs the batch that Atrium commits, appends the event to the log as Atrium does, and clears the outbox now and then. */
async function create(
  env: Env,
  account: string,
  key: string,
  record: () => Promise<Batch>,
): Promise<unknown> {
  const known = recorded.get(key) ?? record();
  recorded.set(key, known);
  const batch = [...renew(await known)];
  const eventAt = batch.findIndex(({ sql }) => sql.startsWith("INSERT INTO outbox_events"));
  if (logged.length >= CLEARED_AT_ONCE) batch.push(deleteRelayed("outbox_events", logged.splice(0)));
  const results = await env.DB.batch<OutboxEventRow>(
    batch.map(({ sql, params }) => env.DB.prepare(sql).bind(...params)),
  );
  const event = results[eventAt]?.results[0];
  if (event === undefined) throw new Error("The batch wrote no event");
  const { id, event: name, roomId, occurredAt, room, subject } = event;
  const outgoing = {
    eventId: id,
    event: name,
    roomId,
    occurredAt,
    body: `{"room":${room},"user":${subject}}`,
  };
  await env.EVENT_LOGS.getByName(`${account}:${shardOf(roomId)}`).append([outgoing]);
  logged.push(event.id);
  return event;
}

app.post("/:account/rooms", async (c) => {
  const account = c.req.param("account");
  const { name } = await c.req.json<{ name: string }>();
  return c.json(await create(c.env, account, account, () => recordRoom(account, name)), 201);
});

app.post("/:account/users", async (c) => {
  const account = c.req.param("account");
  const { name, roomId } = await c.req.json<{ name: string; roomId: string }>();
  return c.json(await create(c.env, account, roomId, () => recordUser(account, roomId, name)), 201);
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
