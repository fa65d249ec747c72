/** An organization itself: its name, and its deletion with everything that it owns. */
import { env } from "cloudflare:workers";
import type { Organization } from "@atrium/contract/rest/organizations.ts";
import type { Me } from "@atrium/contract/rest/people.ts";
import { describe, expect, inject, it } from "vitest";
import { openDelivery } from "../../src/delivery/subscribers.ts";
import {
  continueDeletion,
  continueDeletions,
  purgeRooms,
} from "../../src/features/organizations/deletion.ts";
import { openRequestLogs } from "../../src/features/request-log/request-log-object.ts";
import { openAll, openDirectory, openTenant } from "../../src/platform/d1/databases.ts";
import { newCallBudget, WorkBudget } from "../../src/platform/flow/work-budget.ts";
import { type RoomGateway, roomGateway } from "../../src/room/host/gateway.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { type Account, account, makeGuest } from "../support/api.ts";
import { addMember, invite, signUp } from "../support/person.ts";
import { untilRelayed } from "../support/relayed.ts";
import { batchesOf } from "../support/rows-read.ts";

const MINUTE_MS = 60_000;

const TABLES =
  "rooms users room_access access_defaults room_links identities webhooks workflows api_keys memberships invitations quotas".split(
    " ",
  );

const rowsOf = async ({ id }: Pick<Account, "id">) => {
  const counts = TABLES.map(async (table) => {
    const query = env.DB.prepare(`SELECT count(*) AS n FROM ${table} WHERE account_id = ?`);
    return [table, (await query.bind(id).first<number>("n")) ?? 0] as const;
  });
  return Object.fromEntries((await Promise.all(counts)).filter(([, n]) => n > 0));
};

const remains = ({ id }: Pick<Account, "id">) =>
  env.DB.prepare("SELECT deleted_at FROM accounts WHERE id = ?").bind(id).first();

/** An organization with something of everything. */
async function furnished(): Promise<Account & { readonly roomId: string; readonly fileKey: string }> {
  const owner = await account();
  const { api } = owner;
  const room = await api.createRoom();
  const user = await api.createUser(room.id);
  await api.createRoom();
  await api.put(`/rooms/${room.id}/stores/tasks/first`, { value: 1 });
  const fields = { roomId: room.id, userId: user.id };
  const file = await api.upload(fields, new File(["Hello"], "hello.txt", { type: "text/plain" }));
  await api.post("/webhooks", {
    url: `http://127.0.0.1:${inject("receiver").port}/ok/${owner.id}`,
    events: ["participant.left"],
  });
  await api.post("/workflows", { name: "W", code: "export default () => 1;", events: ["participant.left"] });
  await api.post("/invitations");
  const identity = await api.post<{ identity: { id: string } }>("/identities", { name: "Ada" });
  await api.put("/access/default", { defaultAccesses: "viewer" });
  await api.put(`/rooms/${room.id}/access`, {
    identitiesAccesses: { [identity.data.identity.id]: "editor" },
  });
  await makeGuest(api, room.id);
  return { ...owner, roomId: room.id, fileKey: file.data.file.key };
}

/** Ports for removing deleted organizations, and the errors that are logged. */
function deletion() {
  const unexpected: string[] = [];
  const ports = {
    directory: openDirectory(env),
    databases: openAll(env),
    openTenant: (id: string) => openTenant(env, id),
    rooms: roomGateway(env),
    ...openDelivery(env),
    requestLogs: openRequestLogs(env),
    log: (message: string) => unexpected.push(message),
  };
  return { ports, unexpected };
}

describe("an organization", () => {
  it("is renamed by an owner, for all of its members", async () => {
    const owner = await signUp({ organization: "Engines" });
    const member = await invite(owner);
    const renamed = await owner.api.patch<{ organization: Organization }>("/organization", {
      name: "Analytical",
    });
    expect(renamed.data.organization).toMatchObject({ id: owner.organization.id, name: "Analytical" });
    expect((await owner.api.get("/organization")).data).toEqual(renamed.data);
    expect((await member.browser.get<Me>("/me")).data.organizations[0]?.name).toBe("Analytical");
    const refused = await member.api.patch("/organization", { name: "Mine" });
    expect(refused.error?.code).toBe("FORBIDDEN");
    expect((await owner.api.patch("/organization", { name: "" })).error?.message).toMatch(/^name: /);
  });

  it("is deleted only by an owner, and only when its name is typed", async () => {
    const owner = await signUp({ organization: "Engines" });
    const member = await addMember(owner.organization.id, "member");
    const confirm = { confirm: "Engines" };
    const asMember = member.browser.api(owner.organization.id).json("DELETE", "/organization", confirm);
    expect((await asMember).error?.code).toBe("FORBIDDEN");
    for (const wrong of ["engines", "", "Engines "]) {
      const refused = await owner.api.json("DELETE", "/organization", { confirm: wrong });
      expect(refused.error?.code).toBe("VALIDATION_ERROR");
      expect(refused.error?.message).toMatch(/^confirm: this is not the organization's name; /);
    }
    expect((await owner.api.get("/organization")).status).toBe(200);
    expect((await owner.api.json("DELETE", "/organization", confirm)).data).toEqual({});
    expect((await owner.browser.get<Me>("/me")).data.organizations).toEqual([]);
    expect((await owner.api.get("/rooms")).status).toBe(403);
    await runScheduledTasks(env, Date.now() + 2 * MINUTE_MS);
  });

  it("ends the access of all of its members at once, however many there are, and removes them in chunks", async () => {
    const owner = await account();
    const member = await addMember(owner.id, "member");
    const api = member.browser.api(owner.id);
    await env.DB.batch([
      env.DB.prepare(
        `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT 1200)
         INSERT INTO people (id, name, email, created_at, updated_at)
         SELECT 'z' || ?1 || n, 'Person', ?1 || n || '@example.com', 1, 1 FROM numbers`,
      ).bind(owner.id),
      env.DB.prepare(
        `INSERT INTO memberships (account_id, person_id, role, joined_at)
         SELECT ?1, id, 'member', 1 FROM people WHERE id >= 'z' || ?1 AND id < 'z' || ?1 || ':'`,
      ).bind(owner.id),
    ]);
    expect((await api.get("/rooms")).status).toBe(200);
    const batches = await batchesOf(async () => {
      const deleted = await owner.api.json("DELETE", "/organization", { confirm: "An organization" });
      expect(deleted.status).toBe(200);
    });
    expect(Math.max(...batches.map(({ written }) => written))).toBeLessThan(20_000);
    expect((await api.get("/rooms")).status).toBe(403);
    await expect
      .poll(async () => {
        await runScheduledTasks(env, Date.now() + 2 * MINUTE_MS);
        return [await rowsOf(owner), await remains(owner)];
      })
      .toEqual([{}, null]);
  });

  it("that is deleted gives no access to a member whose membership has yet to be removed", async () => {
    const owner = await account();
    const member = await addMember(owner.id);
    await env.DB.prepare("UPDATE accounts SET deleted_at = 1 WHERE id = ?").bind(owner.id).run();
    expect((await member.browser.get<Me>("/me")).data.organizations).toEqual([]);
    expect((await member.browser.api(owner.id).get("/rooms")).status).toBe(403);
    await runScheduledTasks(env, Date.now() + 2 * MINUTE_MS);
  });

  it("ends every access at once when it is deleted, and loses everything that it owns", async () => {
    const owner = await furnished();
    const neighbour = await account();
    const room = await neighbour.api.createRoom();
    expect((await owner.api.json("DELETE", "/organization", { confirm: "An organization" })).status).toBe(
      200,
    );
    expect((await owner.api.get("/rooms")).status).toBe(401);
    const now = Date.now();
    await runScheduledTasks(env, now);
    expect(await rowsOf(owner)).toEqual({ access_defaults: 1, quotas: 21 });
    expect(await remains(owner)).not.toBe(null);
    // Waiting outbox rows go first.
    for (const minutes of [2, 3]) await runScheduledTasks(env, now + minutes * MINUTE_MS);
    expect([await rowsOf(owner), await remains(owner)]).toEqual([{}, null]);
    expect(await env.FILES.head(owner.fileKey)).toBe(null);
    const stats = await roomGateway(env).read(owner.roomId, owner.id, []);
    expect(stats.stats).toMatchObject({ activeParticipants: 0 });
    expect((await neighbour.api.get(`/rooms/${room.id}`)).status).toBe(200);
  });

  it("is removed in chunks, each run continuing where the last one stopped", async () => {
    const owner = await account();
    const rooms = await Promise.all(Array.from({ length: 25 }, () => owner.api.createRoom()));
    for (const { id } of rooms.slice(0, 3)) await owner.api.createUser(id);
    await untilRelayed(owner.id);
    const now = Date.now();
    await env.DB.prepare("UPDATE accounts SET deleted_at = ? WHERE id = ?").bind(now, owner.id).run();
    const { ports, unexpected } = deletion();
    const left: number[] = [];
    for (let run = 0; run < 30 && (await remains(owner)) !== null; run += 1) {
      await continueDeletion(ports, owner.id, now + 2 * MINUTE_MS, new WorkBudget(12));
      left.push((await rowsOf(owner)).rooms ?? 0);
    }
    expect(left.at(-1)).toBe(0);
    expect(left.length).toBeGreaterThan(3);
    expect(left).toEqual(left.toSorted((a, b) => b - a));
    expect([await remains(owner), unexpected]).toEqual([null, []]);
  });

  it("counts as without rooms only when the last large one is gone", async () => {
    const owner = await account();
    const room = await owner.api.createRoom();
    const names = JSON.stringify(Array.from({ length: 1_001 }, (_, index) => index));
    await env.DB.prepare(
      `INSERT INTO users (id, account_id, room_id, name, name_folded, role, created_at)
       SELECT lower(hex(randomblob(16))), ?, ?, 'User', 'user', 'editor', value FROM json_each(?)`,
    )
      .bind(owner.id, room.id, names)
      .run();
    const tenant = openTenant(env, owner.id);
    const { rooms } = deletion().ports;
    expect(await purgeRooms(tenant, rooms, new WorkBudget(2), Date.now())).toBe(false);
    expect(await rowsOf(owner)).toMatchObject({ rooms: 1, users: 1 });
    expect(await purgeRooms(tenant, rooms, new WorkBudget(2), Date.now())).toBe(true);
    expect((await rowsOf(owner)).rooms).toBe(undefined);
  });

  it("is removed though the rooms of others do not respond, and though others have much more to remove", async () => {
    const [stuck, large, small] = [await account(), await account(), await account()];
    const stuckRoom = await stuck.api.createRoom();
    for (let room = 0; room < 45; room += 1) await large.api.createRoom();
    await small.api.createRoom();
    await untilRelayed(stuck.id, large.id, small.id);
    const now = Date.now();
    for (const [index, { id }] of [stuck, large, small].entries())
      await env.DB.prepare("UPDATE accounts SET deleted_at = ? WHERE id = ?")
        .bind(now + index, id)
        .run();
    const { ports, unexpected } = deletion();
    const rooms: RoomGateway = {
      ...ports.rooms,
      apply: (roomId, ...of) =>
        roomId === stuckRoom.id ? new Promise(() => {}) : ports.rooms.apply(roomId, ...of),
    };
    const run = async () => {
      const deleted = "SELECT count(*) AS n FROM accounts WHERE deleted_at IS NOT NULL";
      const turns = (await env.DB.prepare(deleted).first<number>("n")) ?? 0; // one for each
      const limits = { organizations: turns, turns, concurrency: 1, chunks: 12, turnMs: 20 };
      await continueDeletions(
        { ...ports, rooms },
        now + 2 * MINUTE_MS,
        stuck.id,
        newCallBudget("paid"),
        limits,
      );
    };
    await run();
    await expect.poll(async () => (await rowsOf(small)).rooms).toBeUndefined();
    expect((await rowsOf(large)).rooms).toBeGreaterThan(0);
    const before = (await rowsOf(large)).rooms;
    const one = { organizations: 1, turns: 1, concurrency: 1, chunks: 12, turnMs: 5_000 };
    await continueDeletions({ ...ports, rooms }, now + 2 * MINUTE_MS, large.id, newCallBudget("paid"), one);
    expect((await rowsOf(large)).rooms).toBeLessThan(before ?? 0);
    const areGone = async () => {
      await run();
      return [await remains(large), await remains(small)];
    };
    await expect.poll(areGone).toEqual([null, null]);
    expect(await rowsOf(stuck)).toMatchObject({ rooms: 1 });
    expect(new Set(unexpected)).toEqual(
      new Set(["The removal of a deleted organization took too long; it continues later"]),
    );
    await continueDeletion(ports, stuck.id, now + 2 * MINUTE_MS);
    expect(await remains(stuck)).toBe(null);
  });

  it("goes after what its requests have left behind: relayed later, that would write to the log again", async () => {
    const owner = await account();
    const room = await owner.api.createRoom();
    await untilRelayed(owner.id);
    const now = Date.now();
    await env.DB.prepare(
      `INSERT INTO outbox_events (id, account_id, event, room_id, occurred_at, room, subject, owed)
       VALUES ('left behind', ?, 'room.updated', ?, ?, '{}', '{}', '[]')`,
    )
      .bind(owner.id, room.id, now)
      .run();
    await env.DB.prepare("UPDATE accounts SET deleted_at = ? WHERE id = ?").bind(now, owner.id).run();
    const { ports, unexpected } = deletion();
    await continueDeletion(ports, owner.id, now + 2 * MINUTE_MS);
    expect(await remains(owner)).not.toBe(null);
    await env.DB.prepare("DELETE FROM outbox_events WHERE account_id = ?").bind(owner.id).run();
    await continueDeletion(ports, owner.id, now + 2 * MINUTE_MS);
    expect([await remains(owner), unexpected]).toEqual([null, []]);
  });
});
