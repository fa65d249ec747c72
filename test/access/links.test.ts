/** Links of rooms: guests come by them, stay for as long as they last, and end with them. */
import { env } from "cloudflare:workers";
import type { Identity } from "@atrium/contract/resources/identity.ts";
import type { AuditEntry } from "@atrium/contract/rest/audit.ts";
import type { RoomLink } from "@atrium/contract/rest/identities.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { insertLink } from "../../src/features/identities/link-store.ts";
import { selectDeletedRooms } from "../../src/features/rooms/store.ts";
import { openDirectory, openTenant } from "../../src/platform/d1/databases.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { joinWith, openSocket } from "../room/support/join.ts";
import { type Account, Api, account, makeGuest, type Redeemed, refusalOf } from "../support/api.ts";
import { setLimit, usesOf } from "../support/quotas.ts";

const MINUTE_MS = 60_000;
const LATER = new Date(Date.now() + 60 * MINUTE_MS).toISOString();

let owner: Account;
beforeAll(async () => {
  owner = await account();
});

const newRoom = async () => (await owner.api.createRoom()).id;

/** A page without any credential, at an address of its own. */
const page = () => new Api(owner.id, null);

const redeem = (secret: string, fields: object = {}, api = page()) =>
  api.post<Redeemed>("/links/redeem", { secret, name: "Gale", ...fields });

const closed = [404, "Identities", "NOT_FOUND"];

const listLinks = async (roomId: string) =>
  (await owner.api.get<{ links: RoomLink[]; total: number }>(`/rooms/${roomId}/links`)).data;

const guestsNow = async () => (await usesOf(owner)).guests;

const refusedJoin = async (roomId: string, token: string) => {
  const socket = await openSocket(owner.id, roomId);
  await socket.request("JOIN_ROOM", { token });
  return (await socket.closed).code;
};

const userOf = (joined: unknown) => (joined as { user: { id: string; name: string } }).user;

describe("a link", () => {
  it("shows its secret once, and is listed without it", async () => {
    const roomId = await newRoom();
    const path = `/rooms/${roomId}/links`;
    const made = await owner.api.post<{ link: RoomLink; secret: string }>(path, {
      permissions: ["comments:write", "*:read", "*:read"],
      expiresAt: LATER,
      maxUses: 3,
    });
    expect(made.status).toBe(201);
    expect(made.data.secret).toMatch(/^atrium_link_[0-9A-Za-z]{49}$/);
    expect(made.data.link).toMatchObject({
      ...{ room_id: roomId, permissions: ["*:read", "comments:write"] },
      ...{ expires_at: LATER, max_uses: 3, uses: 0 },
    });
    expect(await listLinks(roomId)).toMatchObject({ links: [made.data.link], total: 1 });
    const stored = await env.DB.prepare("SELECT * FROM room_links WHERE account_id = ? AND id = ?")
      .bind(owner.id, made.data.link.id)
      .all();
    expect(JSON.stringify(stored.results)).not.toContain(made.data.secret);
    const audit = await owner.api.get<{ entries: AuditEntry[] }>("/audit?operation=createRoomLink");
    expect(audit.data.entries[0]).toMatchObject({
      ...{ resource: { type: "link", id: made.data.link.id } },
      changes: { roomId, maxUses: 3, permissions: null },
    });
    expect(JSON.stringify(audit.data)).not.toContain(made.data.secret);
  });

  it.each([
    ["a time that has passed", { permissions: "viewer", expiresAt: "2020-01-01" }, "expiresAt"],
    [
      "less than a minute",
      { permissions: "viewer", expiresAt: new Date(Date.now() + 5_000).toISOString() },
      "expiresAt",
    ],
    ["no guest", { permissions: "viewer", maxUses: 0 }, "maxUses"],
    ["too many guests", { permissions: "viewer", maxUses: 10_001 }, "maxUses"],
    ["nothing to do", { permissions: [] }, "permissions"],
    ["a ban", { permissions: ["none"] }, "permissions"],
  ])("refuses %s", async (_, body, field) => {
    const answer = await owner.api.post(`/rooms/${await newRoom()}/links`, body);
    expect(refusalOf(answer).slice(0, 1)).toEqual([400]);
    expect(answer.error?.message).toContain(field);
  });

  it("belongs to its room, and is none of a user's business", async () => {
    const [roomId, other] = [await newRoom(), await newRoom()];
    const { link, guest } = await makeGuest(owner.api, roomId);
    const { socket } = await joinWith(owner.id, roomId, guest.token);
    const wrong = await owner.api.delete(`/rooms/${other}/links/${link.id}`);
    expect(refusalOf(wrong)).toEqual([404, "Identities", "NOT_FOUND"]);
    expect(await socket.call("PRESENCE_UPDATE", { state: {} })).toMatchObject({ success: true });
    const user = await owner.api.createUser(roomId);
    const asUser = await owner.api.as(user.token).get(`/rooms/${roomId}/links`);
    expect(refusalOf(asUser)).toEqual([403, "Auth", "FORBIDDEN"]);
  });
});

describe("a guest", () => {
  it("enters the link's room, and may do there what the link says", async () => {
    const [roomId, other] = [await newRoom(), await newRoom()];
    for (const id of [roomId, other])
      await owner.api.put(`/rooms/${id}/access`, { defaultAccesses: "editor" });
    const { guest } = await makeGuest(owner.api, roomId, { permissions: "commenter" });
    expect(Object.keys(guest).sort()).toEqual(["expires_at", "identity", "room_id", "token"]);
    expect(guest).toMatchObject({ identity: { kind: "guest", name: "Gale" }, room_id: roomId });
    const { joined } = await joinWith(owner.id, roomId, guest.token);
    expect(joined).toMatchObject({
      user: { name: "Gale" },
      permissions: ["*:read", "presence:write", "comments:write"],
    });
    const question = { identityId: guest.identity.id };
    expect((await owner.api.post(`/rooms/${roomId}/access/check`, question)).data).toMatchObject({
      permissions: ["*:read", "presence:write", "comments:write"],
    });
    expect(await refusedJoin(other, guest.token)).toBe(4403);
    const asGuest = owner.api.as(guest.token);
    expect((await asGuest.get(`/users?roomId=${roomId}`)).status).toBe(200);
    expect((await asGuest.get(`/users?roomId=${other}`)).status).toBe(403);
    const identities = await asGuest.get("/identities");
    expect(refusalOf(identities)).toEqual([403, "Auth", "FORBIDDEN"]);
    const { data } = await owner.api.get<{ identity: Identity }>(`/identities/${guest.identity.id}`);
    expect(data.identity).toEqual(guest.identity);
  });

  it("stays the same with its earlier token, also when it has expired and the link is used up", async () => {
    const roomId = await newRoom();
    const { secret, guest, link } = await makeGuest(owner.api, roomId, { maxUses: 1 });
    expect(refusalOf(await redeem(secret))).toEqual(closed);
    const again = await redeem(secret, { token: guest.token, name: "Another" });
    expect(again.data.identity).toEqual(guest.identity);
    const { joined } = await joinWith(owner.id, roomId, again.data.token);
    expect(userOf(joined).name).toBe("Gale");
    expect((await listLinks(roomId)).links).toMatchObject([{ id: link.id, uses: 1 }]);
    const foreign = await makeGuest(owner.api, await newRoom());
    const refused = [401, "Identities", "UNAUTHORIZED"];
    for (const token of [foreign.guest.token, "no token"])
      expect(refusalOf(await redeem(secret, { token }))).toEqual(refused);
    await owner.api.delete(`/identities/${guest.identity.id}/tokens`);
    const ended = await redeem(secret, { token: guest.token });
    expect(refusalOf(ended)).toEqual(refused);
    expect(ended.error?.message).toContain("redeem the link without it");
  });

  it("has a token for no longer than the link lasts", async () => {
    const expiresAt = new Date(Date.now() + 5 * MINUTE_MS).toISOString();
    const { guest } = await makeGuest(owner.api, await newRoom(), { expiresAt });
    expect(guest.expires_at <= expiresAt).toBe(true);
  });

  it("is counted as a guest, and refused above the quota without a word about it", async () => {
    const before = await usesOf(owner);
    const { secret } = await makeGuest(owner.api, await newRoom());
    expect(await usesOf(owner)).toMatchObject({
      ...{ guests: (before.guests ?? 0) + 1, links: (before.links ?? 0) + 1, identities: before.identities },
    });
    const { total } = (await owner.api.get<{ total: number }>("/identities")).data;
    expect(total).toBe((before.guests ?? 0) + 1);
    await setLimit(owner, "guests", total);
    const refused = await redeem(secret);
    expect(refusalOf(refused)).toEqual([403, "Identities", "FORBIDDEN"]);
    expect(refused.error?.message).not.toContain("quota");
    await setLimit(owner, "guests", null);
    expect((await redeem(secret)).status).toBe(200);
  });

  it("comes by a link with ten uses ten times, however many ask at once", async () => {
    const roomId = await newRoom();
    const { data } = await owner.api.post<{ secret: string }>(`/rooms/${roomId}/links`, {
      ...{ permissions: "viewer", maxUses: 10 },
    });
    const before = await guestsNow();
    const answers = await Promise.all(Array.from({ length: 100 }, () => redeem(data.secret)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(
      new Set(answers.filter(({ status }) => status !== 200).map((answer) => `${refusalOf(answer)}`)),
    ).toEqual(new Set([`${closed}`]));
    expect((await listLinks(roomId)).links).toMatchObject([{ uses: 10 }]);
    expect(await guestsNow()).toBe((before ?? 0) + 10);
  });

  it("is refused in a closed and in a deleted room", async () => {
    const roomId = await newRoom();
    const { secret, guest } = await makeGuest(owner.api, roomId);
    await owner.api.patch(`/rooms/${roomId}`, { state: "closed" });
    expect(refusalOf(await redeem(secret))).toEqual(closed);
    expect(refusalOf(await redeem(secret, { token: guest.token }))).toEqual(closed);
    await owner.api.patch(`/rooms/${roomId}`, { state: "active" });
    expect((await redeem(secret)).status).toBe(200);
    const before = await guestsNow();
    await owner.api.delete(`/rooms/${roomId}`);
    expect(refusalOf(await redeem(secret))).toEqual(closed);
    for (const minute of [1, 2]) await runScheduledTasks(env, Date.now() + minute * MINUTE_MS);
    expect(await guestsNow()).toBe((before ?? 0) - 2);
    const rooms = await env.DB.prepare("SELECT id FROM rooms WHERE account_id = ? AND id = ?")
      .bind(owner.id, roomId)
      .all();
    expect(rooms.results).toEqual([]);
  });
});

describe("a retried redemption", () => {
  const keyed = (key: string) => ({ headers: { "Idempotency-Key": key } });
  const makeLink = async (link: object = {}) => {
    const path = `/rooms/${await newRoom()}/links`;
    return (await owner.api.post<{ secret: string }>(path, { permissions: "viewer", ...link })).data.secret;
  };
  const retry = (secret: string, key: string, fields: object = {}) =>
    page().post<Redeemed>("/links/redeem", { secret, name: "Gale", ...fields }, keyed(key));

  it("returns the same guest with the same token, also when the link is used up", async () => {
    const secret = await makeLink({ maxUses: 1 });
    const key = crypto.randomUUID();
    const first = await retry(secret, key);
    const again = await retry(secret, key);
    expect([again.status, again.headers.get("Idempotency-Replayed")]).toEqual([200, "true"]);
    expect(again.data).toEqual(first.data);
    expect(refusalOf(await retry(secret, crypto.randomUUID()))).toEqual(closed);
    const { results } = await env.DB.prepare("SELECT * FROM receipts WHERE scope LIKE ? || '%'")
      .bind(owner.id)
      .all();
    const stored = JSON.stringify(results);
    expect(stored).toContain(first.data.identity.id);
    expect(stored).not.toContain(first.data.token);
    expect(stored).not.toContain(secret);
  });

  it("finds nothing once the link lets no one in, and only its guest removed before that", async () => {
    const roomId = await newRoom();
    const path = `/rooms/${roomId}/links`;
    const { data } = await owner.api.post<{ link: { id: string }; secret: string }>(path, {
      permissions: "viewer",
    });
    const [key, removed] = [crypto.randomUUID(), crypto.randomUUID()];
    await retry(data.secret, key);
    const { identity } = (await retry(data.secret, removed)).data;
    await owner.api.delete(`/identities/${identity.id}`);
    expect(refusalOf(await retry(data.secret, removed))).toEqual([409, "Identities", "CONFLICT"]);
    await owner.api.delete(`${path}/${data.link.id}`);
    for (const each of [key, removed, crypto.randomUUID()])
      expect(refusalOf(await retry(data.secret, each))).toEqual(closed);
  });

  it("lets one guest in when it arrives many times at once", async () => {
    const secret = await makeLink({ maxUses: 1 });
    const key = crypto.randomUUID();
    const answers = await Promise.all(Array.from({ length: 10 }, () => retry(secret, key)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(new Set(answers.map(({ data }) => data.token)).size).toBe(1);
  });

  it("is bound to the link's secret: the same key is another guest's at another link", async () => {
    const [secret, other] = [await makeLink(), await makeLink()];
    const first = await retry(secret, "1");
    expect((await retry(other, "1")).data.identity.id).not.toBe(first.data.identity.id);
    expect(refusalOf(await retry(secret, "1", { name: "Another" }))).toEqual([409, "Identities", "CONFLICT"]);
    expect(refusalOf(await retry(secret, "no spaces"))).toEqual([400, "Identities", "BAD_REQUEST"]);
  });

  it("is remembered for a success alone, and gives a guest who was removed no other token", async () => {
    const secret = await makeLink({ maxUses: 1 });
    const { data: first } = await retry(secret, "first");
    expect(refusalOf(await retry(secret, "second"))).toEqual(closed);
    expect(refusalOf(await retry(secret, "second"))).toEqual(closed);
    await owner.api.delete(`/identities/${first.identity.id}`);
    expect(refusalOf(await retry(secret, "first"))).toEqual([409, "Identities", "CONFLICT"]);
  });
});

describe("redemptions from one network", () => {
  it("are refused above 60 new guests in a minute, and let those come back who are in", async () => {
    const roomId = await newRoom();
    const { secret, guest } = await makeGuest(owner.api, roomId, { permissions: "viewer" });
    const api = page();
    // More than two minutes allow, since another one may begin meanwhile.
    const answers = await Promise.all(Array.from({ length: 130 }, () => redeem(secret, {}, api)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThanOrEqual(10);
    for (const answer of refused) {
      expect(refusalOf(answer)).toEqual([429, "Server", "RATE_LIMITED"]);
      expect(answer.headers.get("Retry-After")).toBe("60");
    }
    expect((await listLinks(roomId)).links).toMatchObject([{ uses: 131 - refused.length }]);
    expect((await redeem(secret, { token: guest.token }, api)).status).toBe(200);
    expect((await redeem(secret)).status).toBe(200);
  });
});

describe("the end of a link", () => {
  it("closes the sockets of its guests before it is answered, and leaves what they wrote", async () => {
    const roomId = await newRoom();
    const { link, secret, guest } = await makeGuest(owner.api, roomId);
    const other = await makeGuest(owner.api, roomId);
    const { socket, joined } = await joinWith(owner.id, roomId, guest.token);
    const { socket: otherSocket } = await joinWith(owner.id, roomId, other.guest.token);
    expect(await socket.call("STORE_SET", { store: "tasks", key: "a", value: 1 })).toMatchObject({
      success: true,
    });
    const before = await guestsNow();
    const answer = await owner.api.delete(`/rooms/${roomId}/links/${link.id}`);
    expect([answer.status, answer.data]).toEqual([200, { pending_rooms: 0 }]);
    expect(await socket.closed).toMatchObject({ code: 4403 });
    expect(await otherSocket.call("PRESENCE_UPDATE", { state: {} })).toMatchObject({ success: true });
    expect(await refusedJoin(roomId, guest.token)).toBe(4401);
    expect((await owner.api.as(guest.token).get(`/users?roomId=${roomId}`)).status).toBe(401);
    expect(refusalOf(await redeem(secret))).toEqual(closed);
    expect(refusalOf(await redeem(secret, { token: guest.token }))).toEqual(closed);
    expect((await owner.api.get(`/identities/${guest.identity.id}`)).status).toBe(404);
    expect(await guestsNow()).toBe((before ?? 0) - 1);
    const user = await owner.api.get<{ user: { name: string } }>(
      `/users/${userOf(joined).id}?roomId=${roomId}`,
    );
    expect(user.data.user.name).toBe("Gale");
    expect(refusalOf(await owner.api.delete(`/rooms/${roomId}/links/${link.id}`))).toEqual([
      404,
      "Identities",
      "NOT_FOUND",
    ]);
  });

  it("bans many guests at once, and the cron trigger deletes those that the request has left", async () => {
    const roomId = await newRoom();
    const { link, guest } = await makeGuest(owner.api, roomId);
    await env.DB.prepare(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 130)
       INSERT INTO identities (account_id, id, kind, name, name_folded, created_at, link_id)
       SELECT ?, printf('%032d', n), 'guest', 'Gale', 'GALE', 0, ? FROM numbers`,
    )
      .bind(owner.id, link.id)
      .run();
    const before = (await guestsNow()) ?? 0;
    await owner.api.delete(`/rooms/${roomId}/links/${link.id}`);
    expect(await guestsNow()).toBe(before - 100);
    expect([4401, 4403]).toContain(await refusedJoin(roomId, guest.token));
    expect((await listLinks(roomId)).total).toBe(0);
    await runScheduledTasks(env, Date.now());
    expect(await guestsNow()).toBe(before - 131);
    const rows = await env.DB.prepare("SELECT id FROM room_links WHERE account_id = ? AND id = ?")
      .bind(owner.id, link.id)
      .all();
    expect(rows.results).toEqual([]);
  });

  it("comes by its time, after which the cron trigger deletes its guests", async () => {
    const roomId = await newRoom();
    const { link, secret, guest } = await makeGuest(owner.api, roomId, { expiresAt: LATER });
    const { socket } = await joinWith(owner.id, roomId, guest.token);
    await env.DB.prepare("UPDATE room_links SET expires_at = ? WHERE account_id = ? AND id = ?")
      .bind(Date.now(), owner.id, link.id)
      .run();
    expect(refusalOf(await redeem(secret, { token: guest.token }))).toEqual(closed);
    const now = Date.now();
    await runScheduledTasks(env, now);
    expect((await owner.api.get(`/identities/${guest.identity.id}`)).status).toBe(404);
    // The command waits in the outbox until it counts as left behind.
    await runScheduledTasks(env, now + MINUTE_MS);
    expect((await socket.closed).code).toBe(4401);
  });

  it("comes with its room, and one run of the cron trigger deletes hundreds of links", async () => {
    const [roomId, otherId] = [await newRoom(), await newRoom()];
    await env.DB.prepare(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT 400)
       INSERT INTO room_links (account_id, id, room_id, secret_hash, permissions, created_at, max_uses, uses)
       SELECT ?1, ?2 || n, ?2, ?2 || n, '["*:read"]', 1, 1, 0 FROM numbers`,
    )
      .bind(owner.id, roomId)
      .run();
    const { guest } = await makeGuest(owner.api, otherId);
    for (const id of [roomId, otherId]) expect((await owner.api.delete(`/rooms/${id}`)).status).toBe(200);
    const [waiting] = await openDirectory(env).run([selectDeletedRooms(1_000)]);
    expect(waiting.filter(({ id }) => id === roomId)).toEqual([]); // nothing but links is left to remove
    const now = Date.now();
    await runScheduledTasks(env, now);
    expect((await owner.api.get(`/identities/${guest.identity.id}`)).status).toBe(404);
    await runScheduledTasks(env, now + MINUTE_MS);
    const left =
      "SELECT (SELECT count(*) FROM room_links WHERE room_id = ?1) + (SELECT count(*) FROM rooms WHERE id = ?1) AS n";
    expect(await env.DB.prepare(left).bind(roomId).first("n")).toBe(0);
  });

  it("has come before another link of its room is stored", async () => {
    const roomId = await newRoom();
    await makeGuest(owner.api, roomId);
    await owner.api.delete(`/rooms/${roomId}`);
    const tenant = openTenant(env, owner.id);
    const row = { id: crypto.randomUUID(), roomId, secretHash: "late", permissions: "[]", createdAt: 1 };
    const late = { ...row, accountId: owner.id, expiresAt: null, maxUses: 1, uses: 0 };
    await expect(tenant.db.run([insertLink(tenant, late)])).rejects.toThrow("NOT NULL");
  });

  it("reaches its room by the cron trigger when the request dies behind its commit", async () => {
    const roomId = await newRoom();
    const { link, guest } = await makeGuest(owner.api, roomId);
    const { socket } = await joinWith(owner.id, roomId, guest.token);
    // State after the batch of the revocation, without the work that follows it.
    await env.DB.batch([
      env.DB.prepare("UPDATE room_links SET expires_at = 1 WHERE account_id = ? AND id = ?").bind(
        owner.id,
        link.id,
      ),
      env.DB.prepare(
        "UPDATE room_access SET permissions = '[\"none\"]' WHERE account_id = ? AND kind = 'identity' AND subject_id = ?",
      ).bind(owner.id, guest.identity.id),
      env.DB.prepare(
        "INSERT INTO outbox (id, account_id, room_id, change, created_at) VALUES (?, ?, ?, ?, 1)",
      ).bind(
        crypto.randomUUID(),
        owner.id,
        roomId,
        JSON.stringify({ type: "access.changed", identityId: null }),
      ),
    ]);
    await runScheduledTasks(env, Date.now());
    expect([4401, 4403]).toContain((await socket.closed).code);
    expect((await owner.api.get(`/identities/${guest.identity.id}`)).status).toBe(404);
  });
});
