/** Requests of a grown organization read no more rows of D1 than those of a small one. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { insertForOnlineRooms, ROOMS_AT_ONCE } from "../../src/delivery/outbox/outbox-store.ts";
import { openDatabase } from "../../src/platform/d1/d1.ts";
import { type Account, account } from "../support/api.ts";
import { batchesOf, rowsReadBy } from "../support/rows-read.ts";

/** Shorter lists are searched without an index of names, so that none is built here. */
const LARGE = 9_000;
const SMALL = 30;
/** Less than the quota of API keys. */
const FEW = 900;
/** Allowed difference: pages of an index are filled differently, and another request may have left outbox rows. */
const TOLERANCE = 25;

interface Organization {
  readonly owner: Account;
  readonly roomId: string;
  readonly userId: string;
}

/** An organization with `size` rooms, and as many users in one of them. */
async function grown(size: number): Promise<Organization> {
  const owner = await account();
  const roomId = (await owner.api.createRoom({ name: "The room" })).id;
  const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT ${size})`;
  const seeds = [
    env.DB.prepare(
      `${numbers} INSERT INTO rooms (account_id, id, name, name_folded, state, created_at, last_active_at, first_join_at)
       SELECT ?, printf('00000000-0000-4000-8000-%012d', n), 'Room ' || n, 'ROOM ' || n, 'active', n, n, iif(n % 2, n, NULL) FROM numbers`,
    ).bind(owner.id),
    env.DB.prepare(
      `${numbers} INSERT INTO users (id, account_id, room_id, name, name_folded, role, created_at)
       SELECT printf('%s-0000-4000-8000-%012d', substr(?1, 1, 8), n), ?1, ?2, 'User ' || n, 'USER ' || n, 'editor', n FROM numbers`,
    ).bind(owner.id, roomId),
    env.DB.prepare(
      `${numbers} INSERT INTO people (id, name, email, created_at, updated_at)
       SELECT printf('%s-0000-4000-8000-%012d', substr(?1, 1, 8), n), 'Person ' || n, ?1 || n || '@example.com', n, n FROM numbers`,
    ).bind(owner.id),
    env.DB.prepare(
      `${numbers} INSERT INTO memberships (account_id, person_id, role, joined_at)
       SELECT ?1, printf('%s-0000-4000-8000-%012d', substr(?1, 1, 8), n), iif(n = 1, 'owner', 'member'), n FROM numbers`,
    ).bind(owner.id),
    env.DB.prepare(
      `${numbers} INSERT INTO api_keys (id, account_id, name, hash, prefix, last_four, created_at)
       SELECT printf('%s-0000-4000-8000-%012d', substr(?1, 1, 8), n), ?1, 'Key ' || n, ?1 || n, '', '', n FROM numbers WHERE n <= ${FEW}`,
    ).bind(owner.id),
    env.DB.prepare("UPDATE rooms SET active_participants = 1 WHERE account_id = ? AND id <> ?").bind(
      owner.id,
      roomId,
    ),
  ];
  for (const seed of seeds) await seed.run();
  return { owner, roomId, userId: (await owner.api.createUser(roomId)).id };
}

let small: Organization;
let large: Organization;
beforeAll(async () => {
  [small, large] = [await grown(SMALL), await grown(LARGE)];
  return () =>
    env.DB.prepare("DELETE FROM accounts WHERE id IN (?, ?)").bind(small.owner.id, large.owner.id).run();
});

async function rowsReadIn(
  { owner, roomId, userId }: Organization,
  method: string,
  path: string,
  body?: object,
) {
  const waiting = env.DB.prepare("SELECT id FROM outbox_events WHERE account_id = ? LIMIT 1").bind(owner.id);
  await expect.poll(() => waiting.first()).toBeNull();
  const fill = (text: string) => text.replace(":roomId", roomId).replace(":userId", userId);
  const headers = { "Content-Type": "application/json" };
  const init = { headers, body: fill(JSON.stringify(body ?? {})) };
  return rowsReadBy(async () => {
    const { status } = await owner.api.send(method, fill(path), body === undefined ? {} : init);
    expect(status).toBeLessThan(300);
  });
}

describe("an organization with thousands of rooms and users reads as few rows as a small one", () => {
  it.each<[method: string, path: string, body?: object]>([
    ["GET", "/overview"],
    ["GET", "/usage?range=30d"],
    ["GET", "/quotas"],
    ["GET", "/rooms?limit=10"],
    ["GET", "/rooms?limit=10&sort=name"],
    ["GET", "/rooms?limit=10&sort=-last_active_at"],
    ["GET", "/rooms?limit=10&state=active"],
    ["GET", "/rooms/:roomId?limit=10"],
    ["GET", "/users?roomId=:roomId&limit=10"],
    ["GET", "/users?roomId=:roomId&limit=10&sort=name"],
    ["GET", "/users/:userId?roomId=:roomId"],
    ["GET", "/audit?limit=10"],
    ["GET", "/webhooks?limit=10"],
    ["GET", "/members?limit=10"],
    ["GET", "/members?limit=10&sort=name"],
    ["GET", "/members?limit=10&sort=-role"],
    ["GET", "/api-keys?limit=10"],
    ["GET", "/api-keys?limit=10&sort=-last_used_at"],
    ["POST", "/api-keys", { name: "Another" }],
    ["POST", "/invitations", {}],
    ["POST", "/rooms", { name: "Another" }],
    ["POST", "/users", { name: "Another", roomId: ":roomId" }],
    ["PATCH", "/users/:userId?roomId=:roomId", { name: "Renamed" }],
    ["PATCH", "/rooms/:roomId", { name: "Renamed" }],
  ])("%s %s", async (method, path, body) => {
    const [few, many] = [
      await rowsReadIn(small, method, path, body),
      await rowsReadIn(large, method, path, body),
    ];
    expect(many).toBeLessThanOrEqual(few + TOLERANCE);
  });

  // The counts include rows in indexes and counters of triggers; the quota itself is only read.
  it.each([
    ["/rooms", 9],
    ["/users", 10],
  ])("POST %s writes %i rows in its batch, the event's included", async (path, rows) => {
    for (const { owner, roomId } of [small, large]) {
      const batches = await batchesOf(() =>
        owner.api.post(path, { name: "Another", ...(path === "/users" && { roomId }) }),
      );
      expect(Math.max(...batches.map(({ written }) => written))).toBe(rows);
    }
  });

  it("a command for its rooms with users online is written to a thousand of them at a time", async () => {
    const all = {
      accountId: large.owner.id,
      command: JSON.stringify({ type: "room.updated" }),
      at: Date.now(),
    };
    const db = openDatabase(env.DB);
    let written: readonly unknown[] = [];
    const [{ read, written: rows } = { read: 0, written: 0 }] = await batchesOf(async () => {
      [written] = await db.run([insertForOnlineRooms(all)]);
    });
    await env.DB.prepare("DELETE FROM outbox WHERE account_id = ?").bind(large.owner.id).run();
    expect(written).toHaveLength(ROOMS_AT_ONCE);
    expect(Math.max(read, rows)).toBeLessThan(8 * ROOMS_AT_ONCE);
  });

  it("also on a page far down a list, which a cursor leads to", async () => {
    for (const list of ["/rooms?", "/users?roomId=:roomId&", "/members?"]) {
      const path = list.replace(":roomId", large.roomId);
      const page = await large.owner.api.get<{ cursor: string }>(`${path}limit=1&offset=${LARGE - 50}`);
      const first = await rowsReadIn(large, "GET", `${path}limit=10`);
      const far = await rowsReadIn(large, "GET", `${path}limit=10&after=${page.data.cursor}`);
      expect(far).toBeLessThanOrEqual(first + TOLERANCE);
    }
  });
});
