/** The boards of the demo: they last a day, and are bounded in number, visitors, files and stores. */
import { env } from "cloudflare:workers";
import { presentLimits } from "@atrium/contract/resources/room-limits.ts";
import type { ListedRoom } from "@atrium/contract/rest/rooms.ts";
import { describe, expect, it } from "vitest";
import { BOARD, QUICKSTART_PREFIX } from "../../src/demo/boards.ts";
import { expireSurplusBoards } from "../../src/demo/store.ts";
import { openTenant } from "../../src/platform/d1/databases.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { type Account, account } from "../support/api.ts";
import { askAs, visit } from "./visit.ts";

const settingsOf = ({ id }: Account) => ({ ...env, DEMO_ACCOUNT_ID: id });

/** Inserts rooms that were opened one after the other, in this many milliseconds before now. No test waits for their end. */
async function openRooms(owner: Account, customIds: readonly string[], agoMs: number): Promise<void> {
  const rooms = customIds.map((customId) => ({ id: crypto.randomUUID(), customId }));
  const insertion = `INSERT INTO rooms (account_id, id, name, name_folded, custom_id, state, created_at, ends_at)
     SELECT ?1, value ->> 'id', 'Demo board', 'demo board', value ->> 'customId', 'active', ?2 + key, ?4
     FROM json_each(?3)`;
  const now = Date.now();
  await env.DB.prepare(insertion)
    .bind(owner.id, now - agoMs, JSON.stringify(rooms), now + 10 * BOARD.lifetimeMs)
    .run();
}

/** Lets everyone with the address edit the rooms that {@link openRooms} has inserted, as the first visitor does. */
const openToAll = ({ id }: Account) =>
  env.DB.prepare(
    `INSERT INTO room_access (account_id, room_id, kind, subject_id, permissions)
     SELECT account_id, id, 'default', '', '["*:write"]' FROM rooms WHERE account_id = ?`,
  )
    .bind(id)
    .run();

const customIdsOf = async ({ api }: Account): Promise<readonly (string | undefined)[]> => {
  const { data } = await api.get<{ rooms: { custom_id?: string }[] }>("/rooms");
  return data.rooms.map(({ custom_id }) => custom_id).sort();
};

const numbered = (count: number) =>
  Array.from({ length: count }, (_, number) => `demo:${String(number).padStart(4, "0")}`);

const quickstarts = (count: number) => numbered(count).map((id) => id.replace("demo:", QUICKSTART_PREFIX));

describe("a board", () => {
  it("is deleted after a day, and a room of the organization that is no board is not", async () => {
    const owner = await account();
    await visit(owner.id, "?room=ours");
    await owner.api.createRoom({ customId: "board" });
    await runScheduledTasks(settingsOf(owner), Date.now() + BOARD.lifetimeMs - 60_000);
    expect(await customIdsOf(owner)).toEqual(["board", "demo:ours"]);
    await runScheduledTasks(settingsOf(owner), Date.now() + BOARD.lifetimeMs + 1);
    expect(await customIdsOf(owner)).toEqual(["board"]);
  });

  it("takes the identities of its visitors and helpers with it, and those of no other board", async () => {
    const owner = await account();
    const [ada] = [await visit(owner.id, "?room=ours&name=Ada"), await visit(owner.id, "?room=theirs")];
    await askAs(owner.id, ada.data.token, ["POST", "helpers"]);
    await owner.api.post("/identities", { name: "Dan", customId: "demo" });
    const used = async () => {
      const { quotas } = (await owner.api.get<{ quotas: { name: string; used: number }[] }>("/quotas")).data;
      const names = ["identities", "access_entries"];
      return names.map((name) => quotas.find((quota) => quota.name === name)?.used);
    };
    expect(await used()).toEqual([5, 2]);
    await env.DB.prepare("UPDATE rooms SET ends_at = 1 WHERE account_id = ? AND custom_id = 'demo:ours'")
      .bind(owner.id)
      .run();
    for (let run = 0; run < 2; run += 1) await runScheduledTasks(settingsOf(owner), Date.now());
    expect(await used()).toEqual([2, 1]);
  });

  it("gives way to newer ones when there are many, unless someone is in it", async () => {
    const owner = await account();
    await openRooms(owner, numbered(BOARD.keptBoards + 3), 2 * BOARD.youngMs);
    await env.DB.prepare("UPDATE rooms SET active_participants = 1 WHERE account_id = ? AND custom_id = ?")
      .bind(owner.id, "demo:0001")
      .run();
    for (let run = 0; run < 2; run += 1) await runScheduledTasks(settingsOf(owner), Date.now());
    const gone = await env.DB.prepare("SELECT count(*) AS total FROM rooms WHERE account_id = ?").bind(
      owner.id,
    );
    expect(await gone.first("total")).toBe(BOARD.keptBoards + 1);
    const oldest = await env.DB.prepare(
      "SELECT custom_id FROM rooms WHERE account_id = ? ORDER BY created_at LIMIT 2",
    ).bind(owner.id);
    const { results } = await oldest.all<{ custom_id: string }>();
    expect(results.map(({ custom_id }) => custom_id)).toEqual(["demo:0001", "demo:0003"]);
  });

  it("and the room of a quickstart do not give way to each other, and neither when it was just opened", async () => {
    const owner = await account();
    await openRooms(owner, numbered(BOARD.keptBoards + 100), 2 * BOARD.youngMs);
    await openRooms(owner, quickstarts(BOARD.keptBoards + 100), BOARD.youngMs / 2);
    const tenant = openTenant(env, owner.id);
    const now = Date.now();
    const surplus = { kept: BOARD.keptBoards, youngFrom: now - BOARD.youngMs, limit: 60, now };
    const ended = async () => {
      for (const kind of ["board", "quickstart"] as const)
        await tenant.db.run([expireSurplusBoards(tenant, kind, surplus)]);
      const select =
        "SELECT custom_id FROM rooms WHERE account_id = ? AND ends_at <= ? ORDER BY custom_id DESC LIMIT 1 OFFSET ?";
      const endedAfter = (count: number) =>
        env.DB.prepare(select)
          .bind(owner.id, now, count - 1)
          .first("custom_id");
      return [await endedAfter(1), await endedAfter(60), await endedAfter(100), await endedAfter(101)];
    };
    expect(await ended()).toEqual(["demo:0059", "demo:0000", null, null]);
    expect(await ended()).toEqual(["demo:0099", "demo:0040", "demo:0000", null]);
    expect(await ended()).toEqual(["demo:0099", "demo:0040", "demo:0000", null]);
  });

  it("is opened beside quickstarts that are too many, and a quickstart beside boards", async () => {
    const [owner, other] = [await account(), await account()];
    await openRooms(owner, quickstarts(BOARD.maxBoards), 1_000);
    await openRooms(other, numbered(BOARD.maxBoards), 1_000);
    const read = ({ id }: Account) => askAs(id, undefined, ["POST", "readers?name=Ada&room=ours"], "none");
    expect([(await visit(owner.id, "")).status, (await read(owner)).status]).toEqual([201, 429]);
    expect([(await visit(other.id, "")).status, (await read(other)).status]).toEqual([429, 201]);
  });

  it("is not opened when there are too many", async () => {
    const owner = await account();
    await openRooms(owner, numbered(BOARD.maxBoards), 1_000);
    await openToAll(owner);
    const [refused, joined] = [await visit(owner.id, ""), await visit(owner.id, "?room=0001")];
    expect([refused.status, refused.error?.code, joined.status]).toEqual([429, "RATE_LIMITED", 201]);
  });

  it("has a bounded number of visitors", async () => {
    const owner = await account();
    await openRooms(owner, ["demo:full"], 1_000);
    await openToAll(owner);
    await env.DB.prepare(`UPDATE rooms SET limits = '{"users":3}' WHERE account_id = ?`).bind(owner.id).run();
    const answers = await Promise.all(Array.from({ length: 9 }, () => visit(owner.id, "?room=full")));
    answers.push(await visit(owner.id, "?room=full"));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(new Set(refused.map(({ status, error }) => `${status} ${error?.message}`))).toEqual(
      new Set(["403 This board has as many visitors as it can have. Open one of your own."]),
    );
  });

  it("has limits of its own", async () => {
    const owner = await account();
    await visit(owner.id, "?room=ours");
    await owner.api.createRoom({ customId: "board" });
    const { data } = await owner.api.get<{ rooms: ListedRoom[] }>("/rooms?sort=name");
    const MIB = 1024 * 1024;
    const bytes = {
      store_bytes: 4 * MIB,
      document_bytes: 4 * MIB,
      stream_bytes: 4 * MIB,
      comment_bytes: 4 * MIB,
    };
    expect(data.rooms.map(({ custom_id, limits }) => [custom_id, limits])).toEqual([
      ["board", presentLimits(null)],
      ["demo:ours", { ...bytes, users: 50, files: 20, file_bytes: 10 * MIB }],
    ]);
  });
});
