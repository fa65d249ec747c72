/** The boards of the demo: they last a day, and are bounded in number, visitors, files and stores. */
import { env } from "cloudflare:workers";
import { presentLimits } from "@atrium/contract/resources/room-limits.ts";
import type { ListedRoom } from "@atrium/contract/rest/rooms.ts";
import { describe, expect, it } from "vitest";
import { BOARD, QUICKSTART_PREFIX } from "../../src/demo/boards.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { type Account, account } from "../support/api.ts";
import { askAs, visit } from "./visit.ts";

const settingsOf = ({ id }: Account) => ({ ...env, DEMO_ACCOUNT_ID: id });

/** Inserts rooms that were opened one after the other, in this many milliseconds before now. */
async function openRooms(owner: Account, customIds: readonly string[], agoMs: number): Promise<void> {
  const rooms = customIds.map((customId) => ({ id: crypto.randomUUID(), customId }));
  const insertion = `INSERT INTO rooms (account_id, id, name, name_folded, custom_id, state, created_at)
     SELECT ?1, value ->> 'id', 'Demo board', 'demo board', value ->> 'customId', 'active', ?2 + key FROM json_each(?3)`;
  await env.DB.prepare(insertion)
    .bind(owner.id, Date.now() - agoMs, JSON.stringify(rooms))
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
    await openRooms(owner, numbered(BOARD.keptBoards + 3), 60_000);
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

  it("stays when there are many quickstarts beside it", async () => {
    const owner = await account();
    await openRooms(owner, ["demo:ours"], 120_000);
    const quickstarts = numbered(BOARD.keptBoards + 3).map((id) => id.replace("demo:", QUICKSTART_PREFIX));
    await openRooms(owner, quickstarts, 60_000);
    for (let run = 0; run < 2; run += 1) await runScheduledTasks(settingsOf(owner), Date.now());
    const left = env.DB.prepare(
      "SELECT count(*) AS total, max(custom_id = 'demo:ours') AS ours FROM rooms WHERE account_id = ?",
    ).bind(owner.id);
    expect(await left.first()).toEqual({ total: BOARD.keptBoards, ours: 1 });
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
    const bytes = { store_bytes: 4 * MIB, document_bytes: 4 * MIB, comment_bytes: 4 * MIB };
    expect(data.rooms.map(({ custom_id, limits }) => [custom_id, limits])).toEqual([
      ["board", presentLimits(null)],
      ["demo:ours", { ...bytes, users: 50, files: 20, file_bytes: 10 * MIB }],
    ]);
  });
});
