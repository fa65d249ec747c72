/** Moves of an organization between databases: whole, without a lost write, whatever interrupts them. */

import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { continueMoves, type MovePorts } from "../../src/features/organizations/move.ts";
import { deleteQuotas, type MoveRow } from "../../src/features/organizations/move-store.ts";
import { selectSlice } from "../../src/features/organizations/statements.ts";
import {
  beyondDirectory,
  ORGANIZATION_TABLES,
  organizationTable,
} from "../../src/features/organizations/tables.ts";
import { AUDIT_ENTRIES } from "../../src/http/audit/store.ts";
import { RECEIPTS } from "../../src/http/idempotency/store.ts";
import { type Database, statement } from "../../src/platform/d1/d1.ts";
import { openAll, openDirectory, openTenant } from "../../src/platform/d1/databases.ts";
import { expire } from "../../src/platform/d1/expiry.ts";
import { behindFence } from "../../src/platform/d1/fence-store.ts";
import { WorkBudget } from "../../src/platform/flow/work-budget.ts";
import { remainsOf, remove, rowsOf } from "../backup/furnished.ts";
import { backUp, restore } from "../backup/operator.ts";
import { joinWith, openSocket } from "../room/support/join.ts";
import { type Account, account, makeGuest, type PlaceName } from "../support/api.ts";
import { addMember } from "../support/person.ts";
import { planOf } from "../support/plan-guard.ts";
import { setLimit } from "../support/quotas.ts";

const IN_DIRECTORY = ["audit_entries", "receipts", "quotas"];
const TABLES = [...ORGANIZATION_TABLES, organizationTable("quotas", [])].map((table) =>
  IN_DIRECTORY.includes(table.name) ? beyondDirectory(table) : table,
);

/** Rows of an organization in a database by table, without those that stay in the directory. */
async function contentOf(place: PlaceName, id: string): Promise<Record<string, unknown[]>> {
  const found = await rowsOf(place, TABLES, id);
  const content: Record<string, unknown[]> = {};
  for (const [index, { name }] of TABLES.entries()) {
    const rows = (found[index] ?? []).map((row) => JSON.stringify(row));
    if (rows.length > 0) content[name] = [...(content[name] ?? []), ...rows.toSorted()];
  }
  return content;
}

/** Something of everything, in more than one slice. */
async function furnish({ api, id }: Account, place: PlaceName): Promise<{ roomId: string }> {
  const room = await api.createRoom({ customId: "first" });
  const user = await api.createUser(room.id);
  const retried = { headers: { "Idempotency-Key": "once" } };
  await api.post("/rooms", { name: "Retried" }, retried);
  await api.upload({ roomId: room.id, userId: user.id }, new File(["Hello"], "hello.txt"));
  await api.post("/webhooks", { url: "https://hooks.example.com", events: ["participant.left"] });
  const code = "export default () => 1;";
  await api.post("/workflows", { name: "W", code, events: ["participant.left"] });
  await api.post("/api-keys", { name: "Second" }, { headers: { "Idempotency-Key": "key" } });
  const identity = await api.post<{ identity: { id: string } }>("/identities", { name: "Ada" });
  await api.put("/access/default", { defaultAccesses: "viewer" });
  await api.patch("/notification-defaults", { email: { sender: "none" } });
  await api.put(`/rooms/${room.id}/access`, {
    identitiesAccesses: { [identity.data.identity.id]: "editor" },
  });
  await makeGuest(api, room.id);
  await env[place].batch([
    env[place]
      .prepare("INSERT INTO backlogs SELECT account_id, id, 150, 90000 FROM webhooks WHERE account_id = ?")
      .bind(id),
    env[place]
      .prepare("UPDATE quotas SET max = 50 WHERE account_id = ? AND quota = 'requests_per_second'")
      .bind(id),
  ]);
  const names = JSON.stringify(Array.from({ length: 450 }, (_, index) => index));
  await env[place]
    .prepare(
      `INSERT INTO users (id, account_id, room_id, name, name_folded, role, created_at)
       SELECT lower(hex(randomblob(16))), ?, ?, 'User', 'user', 'editor', 1000 + value / 7 FROM json_each(?)`,
    )
    .bind(id, room.id, names)
    .run();
  await relayed(place, id);
  return { roomId: room.id };
}

/** Waits for work of requests after their responses, which a move would refuse. */
const relayed = (place: PlaceName, id: string) =>
  expect
    .poll(async () => Object.keys(await contentOf(place, id)))
    .not.toEqual(expect.arrayContaining(["outbox_events"]));

const begin = (id: string, target: PlaceName) =>
  env.DB.prepare(
    `INSERT INTO moves (account_id, source, target, phase, step, fencing_token, started_at)
     SELECT id, database, ?, 'copying', 0, 0, 0 FROM accounts WHERE id = ?`,
  )
    .bind(target, id)
    .run();

async function cancel(id: string): Promise<void> {
  await env.DB.prepare(
    "UPDATE moves SET phase = 'cancelled', fencing_token = fencing_token + 1 WHERE account_id = ?",
  )
    .bind(id)
    .run();
  await continueMoves(portsOf());
}

const moveOf = (id: string) =>
  env.DB.prepare(
    "SELECT account_id AS accountId, source, target, phase, fencing_token AS fencingToken FROM moves WHERE account_id = ?",
  )
    .bind(id)
    .first<MoveRow>();

/** The ports of the cron trigger, with a clock that waiting moves. */
function portsOf(log: string[] = []): MovePorts {
  let now = Date.now();
  return {
    directory: openDirectory(env),
    databases: openAll(env),
    now: () => now,
    wait: async (ms) => {
      now += ms;
    },
    log: (message, error) => log.push(`${message}: ${String(error)}`),
  };
}

/** Databases that fail together after this many trips. */
function failingAfter(trips: number, ports: MovePorts): MovePorts {
  let left = trips;
  const failing = (db: Database): Database => ({
    run: async (statements) => {
      left -= 1;
      if (left < 0) throw new Error("The run was killed");
      return db.run(statements);
    },
  });
  const databases = new Map([...ports.databases].map(([name, db]) => [name, failing(db)]));
  return { ...ports, directory: failing(ports.directory), databases };
}

describe("a move", () => {
  it.each([
    ["DB", "DB_2"],
    ["DB_3", "DB"],
  ] as const)("from %s to %s takes everything along, and leaves nothing", async (source, target) => {
    const owner = await account(source);
    const { roomId } = await furnish(owner, source);
    const before = await contentOf(source, owner.id);
    expect(before.users).toHaveLength(451);
    await begin(owner.id, target);
    const log: string[] = [];
    await continueMoves(portsOf(log));
    expect([log, await moveOf(owner.id)]).toEqual([[], null]);
    expect(await contentOf(target, owner.id)).toEqual(before);
    expect(await contentOf(source, owner.id)).toEqual({});
    // This isolate remembers the old placement, as others may; the database itself leads it to the new one.
    expect((await owner.api.post("/rooms", { name: "New" })).status).toBe(201);
    const quotas = (await owner.api.get<{ quotas: { name: string; used: number }[] }>("/quotas")).data.quotas;
    expect(quotas).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: "rooms", used: 3 }),
        expect.objectContaining({ name: "users", used: 451 }),
        { name: "waiting_events", used: 150, limit: 50_000_000 },
        { name: "requests_per_second", used: 0, limit: 50 },
      ]),
    );
    expect((await contentOf(source, owner.id)).rooms).toBe(undefined);
    const again = { headers: { "Idempotency-Key": "once" } };
    const replayed = await owner.api.post("/rooms", { name: "Retried" }, again);
    expect(replayed.headers.get("Idempotency-Replayed")).toBe("true");
    expect(
      (await owner.api.post("/api-keys", { name: "Second" }, { headers: { "Idempotency-Key": "key" } })).error
        ?.code,
    ).toBe("CONFLICT");
    expect((await owner.api.delete(`/rooms/${roomId}`)).status).toBe(200);
    expect((await owner.api.get("/audit")).data).toMatchObject({
      entries: expect.arrayContaining([
        expect.objectContaining({ operation: "createApiKey" }),
        expect.objectContaining({ operation: "createWebhook" }),
      ]),
    });
  });

  it("there and back has a long list of rooms indexed where it is then, and not where it was", async () => {
    const owner = await account("DB");
    const pretend = env.DB.prepare(
      "UPDATE quotas SET used = ? WHERE account_id = ? AND quota IN ('rooms', 'identities')",
    );
    await pretend.bind(10_001, owner.id).run();
    const lists = async (place: PlaceName) => {
      const query = "SELECT state FROM search_lists WHERE account_id = ? ORDER BY number";
      const { results } = await env[place].prepare(query).bind(owner.id).all<{ state: string }>();
      return results.map(({ state }) => state);
    };
    const log: string[] = [];
    await begin(owner.id, "DB_2");
    await continueMoves(portsOf(log));
    const [removed, building] = [Array(2).fill("removed"), Array(2).fill("building")];
    expect([await lists("DB"), await lists("DB_2")]).toEqual([removed, building]);
    await begin(owner.id, "DB");
    await continueMoves(portsOf(log));
    expect([await lists("DB"), await lists("DB_2")]).toEqual([[...removed, ...building], removed]);
    expect(log).toEqual([]);
  });

  it("leaves in the directory what is the directory's, until its time is over as anywhere", async () => {
    const owner = await account("DB");
    await furnish(owner, "DB");
    const { browser } = await addMember(owner.id);
    await browser.api(owner.id).post("/invitations", {});
    await begin(owner.id, "DB_2");
    await continueMoves(portsOf());
    const left = async () =>
      (
        await env.DB.prepare(
          `SELECT (SELECT count(*) FROM receipts WHERE scope LIKE ?1 || '%') AS receipts,
             (SELECT count(*) FROM audit_entries WHERE account_id = ?1) AS entries`,
        )
          .bind(owner.id)
          .all()
      ).results;
    expect(await left()).toEqual([{ receipts: 1, entries: 2 }]);
    const later = Date.now() + 60_000;
    await Promise.all([RECEIPTS, AUDIT_ENTRIES].map((each) => expire(openDirectory(env), each, later)));
    expect(await left()).toEqual([{ receipts: 0, entries: 0 }]);
  });

  it("leaves the counts and limits of people in the directory, there and back, where the operator still sets them", async () => {
    const owner = await account("DB");
    await addMember(owner.id);
    const limit = (max: number) => setLimit(owner, "members", max);
    const members = async () => {
      const { data } = await owner.api.get<{ quotas: { name: string }[] }>("/quotas");
      return data.quotas.find(({ name }) => name === "members");
    };
    await limit(10);
    for (const [target, max] of [
      ["DB_2", 20],
      ["DB", 30],
    ] as const) {
      await begin(owner.id, target);
      await continueMoves(portsOf());
      await addMember(owner.id);
      await limit(max);
      expect(await members()).toEqual({ name: "members", used: max / 10, limit: max });
    }
  });

  it("refuses changes while it runs, and no reading; when it is cancelled, nothing has happened", async () => {
    const owner = await account("DB_2");
    await furnish(owner, "DB_2");
    const before = await contentOf("DB_2", owner.id);
    await begin(owner.id, "DB_3");
    await continueMoves(portsOf(), new WorkBudget(3));
    const refused = await owner.api.post("/rooms", { name: "Refused" });
    expect([refused.status, refused.error?.code]).toEqual([429, "RATE_LIMITED"]);
    expect(refused.headers.get("Retry-After")).toBe("10");
    expect(refused.error?.message).toContain("is being moved to another database");
    expect((await owner.api.get("/rooms")).data).toMatchObject({ total: 2 });
    expect((await owner.api.post("/invitations", { role: "member" })).status).toBe(201);
    expect(Object.keys(await contentOf("DB_3", owner.id))).not.toEqual([]);
    await cancel(owner.id);
    expect(await moveOf(owner.id)).toBe(null);
    expect([await contentOf("DB_2", owner.id), await contentOf("DB_3", owner.id)]).toEqual([before, {}]);
    expect((await owner.api.post("/rooms", { name: "Accepted" })).status).toBe(201);
  });

  it("lets users in whose joins write nothing, and has the others try again, guests of links too", async () => {
    const owner = await account("DB_2");
    const [room, idle] = [await owner.api.createRoom(), await owner.api.createRoom()];
    const fresh = await owner.api.createRoom();
    for (const { id } of [room, idle])
      await owner.api.put(`/rooms/${id}/access`, { defaultAccesses: "editor" });
    const identify = async (customId: string) =>
      (await owner.api.post<{ token: string }>("/identify", { customId, name: customId })).data.token;
    const [ada, ben] = [await identify("ada"), await identify("ben")];
    const [user, stranger] = [await owner.api.createUser(room.id), await owner.api.createUser(fresh.id)];
    const { secret } = await makeGuest(owner.api, room.id);
    for (const { id } of [room, idle]) await joinWith(owner.id, id, ada);
    const rowOf = (id: string) =>
      env.DB_2.prepare("SELECT active_participants AS online FROM rooms WHERE id = ?").bind(id).first();
    for (const { id } of [room, idle]) await expect.poll(() => rowOf(id)).toEqual({ online: 1 });
    await relayed("DB_2", owner.id);
    // State long after the joins, with everyone gone from the second room.
    await env.DB_2.prepare(
      "UPDATE rooms SET joining_until = 0, active_participants = active_participants * (id = ?) WHERE account_id = ?",
    )
      .bind(room.id, owner.id)
      .run();
    await begin(owner.id, "DB_3");
    await continueMoves(portsOf(), new WorkBudget(3));
    const join = async (roomId: string, token: string) => {
      const socket = await openSocket(owner.id, roomId);
      const answer = await socket.request("JOIN_ROOM", { token });
      return answer.success ? null : [answer.error.code, (await socket.closed).code];
    };
    const later = ["RATE_LIMITED", 4429];
    expect([await join(room.id, ada), await join(room.id, user.token)]).toEqual([null, null]);
    expect([await join(room.id, ben), await join(idle.id, ada)]).toEqual([later, later]);
    expect(await join(fresh.id, stranger.token)).toEqual(later);
    const redemption = await owner.api.post("/links/redeem", { secret, name: "Gale" });
    expect([redemption.status, redemption.headers.get("Retry-After")]).toEqual([429, "10"]);
    const taking = await owner.api.put(`/rooms/${room.id}/participants/${user.id}`, { ttl: 60 });
    expect([200, 409]).toContain(taking.status); // the user has a connection of its own
    await cancel(owner.id);
    expect([await join(room.id, ben), await join(fresh.id, stranger.token)]).toEqual([null, null]);
    expect((await owner.api.post("/links/redeem", { secret, name: "Gale" })).status).toBe(200);
  });

  it("that is killed at any trip goes on with the next run", async () => {
    const owner = await account("DB_2");
    await furnish(owner, "DB_2");
    const before = await contentOf("DB_2", owner.id);
    await begin(owner.id, "DB_3");
    const killed: string[] = [];
    let runs = 0;
    for (; runs < 200 && (await moveOf(owner.id)) !== null; runs += 1)
      await continueMoves(failingAfter(4 + (runs % 7), portsOf(killed)));
    expect(killed.length).toBeGreaterThan(5);
    expect(killed.every((entry) => entry.includes("The run was killed"))).toBe(true);
    expect([await contentOf("DB_2", owner.id), await contentOf("DB_3", owner.id)]).toEqual([{}, before]);
  });

  it("is cancelled when a copy differs", async () => {
    const owner = await account("DB_2");
    await furnish(owner, "DB_2");
    await begin(owner.id, "DB_3");
    const log: string[] = [];
    const ports = portsOf(log);
    while ((await moveOf(owner.id))?.phase === "copying") await continueMoves(ports, new WorkBudget(1));
    const move = (await moveOf(owner.id)) as MoveRow;
    await openAll(env)
      .get("DB_3")
      ?.run(behindFence(move, [deleteQuotas(owner.id)]));
    await continueMoves(ports);
    expect(log).toEqual([expect.stringContaining("the copy of quotas differs")]);
    expect(await contentOf("DB_3", owner.id)).toEqual({});
    expect((await owner.api.post("/rooms", { name: "Here" })).status).toBe(201);
    expect((await contentOf("DB_2", owner.id)).rooms).toHaveLength(3);
  });

  it("keeps the fences until no isolate can remember the old placement, and a run that was overtaken writes nothing", async () => {
    const owner = await account("DB_2");
    await owner.api.createRoom();
    await relayed("DB_2", owner.id);
    await begin(owner.id, "DB_3");
    const ports = portsOf();
    const waited: number[] = [];
    let overtaken: MoveRow | null = null;
    await continueMoves({
      ...ports,
      wait: async (ms) => {
        waited.push(ms);
        overtaken = await moveOf(owner.id);
        const tenant = openTenant({ ...env }, owner.id);
        const write = tenant.db.run([
          statement`UPDATE rooms SET name = 'Late' WHERE account_id = ${owner.id}`,
        ]);
        await expect(write).rejects.toMatchObject({ code: "RATE_LIMITED" });
        await ports.wait(ms);
      },
    });
    expect(waited).toEqual([20_000]);
    expect(overtaken).toMatchObject({ phase: "settling" });
    const late = openAll(env)
      .get("DB_3")
      ?.run(behindFence(overtaken as unknown as MoveRow, [deleteQuotas(owner.id)]));
    await expect(late).rejects.toThrow("NOT NULL constraint failed");
    expect((await contentOf("DB_3", owner.id)).quotas).toHaveLength(18);
  });

  it.each([
    ["DB", "DB_2"],
    ["DB_3", "DB_2"],
  ] as const)("from %s to %s leaves nothing in the way of a restore", async (source, target) => {
    const owner = await account(source);
    await owner.api.createRoom();
    await relayed(source, owner.id);
    await begin(owner.id, target);
    await continueMoves(portsOf());
    await owner.api.createRoom(); // makes this isolate forget the old placement
    await relayed(target, owner.id);
    const archive = await backUp(owner.id);
    await remove(owner, target);
    expect(await remainsOf(archive)).toEqual({});
    expect(await restore(archive, undefined, target)).toBe(true);
    expect((await owner.api.get("/rooms")).data).toMatchObject({
      rooms: [expect.anything(), expect.anything()],
    });
  });

  it("to a database that is not bound changes nothing", async () => {
    const owner = await account("DB_2");
    await begin(owner.id, "DB_9" as PlaceName);
    const log: string[] = [];
    await continueMoves(portsOf(log));
    expect(log).toEqual([expect.stringContaining("The database DB_9 is not bound")]);
    expect((await owner.api.post("/rooms", { name: "Here" })).status).toBe(201);
    await env.DB.prepare("DELETE FROM moves WHERE account_id = ?").bind(owner.id).run();
  });
});

it.each(ORGANIZATION_TABLES.map((table) => [table.name, table.where, table] as const))(
  "a slice of %s where %s is found by an index, and not sorted",
  async (name, _, table) => {
    for (const after of [null, table.order.map(() => 0)]) {
      for (const statement of selectSlice(table, "account", after)) {
        const [first, ...sorts] = await planOf(statement);
        expect(first).toMatch(/^SEARCH .* USING (COVERING )?INDEX|^SCAN files USING INDEX files_unsettled$/);
        // Rows on their way are few, and those of one millisecond fewer.
        expect(sorts.length === 0 || /^(outbox|outbox_events|files)$/.test(name)).toBe(true);
      }
    }
  },
);
