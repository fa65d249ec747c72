/** The boards of the demo: they last a day, and are bounded in number, visitors, files and stores. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { BOARD, boardCommentBytes, storeUseOf } from "../../src/demo/boards.ts";
import { expireBoards } from "../../src/demo/expiry.ts";
import { openBlobs } from "../../src/features/files/storage/blobs.ts";
import { WorkBudget } from "../../src/platform/flow/work-budget.ts";
import { roomGateway } from "../../src/room/host/gateway.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { type Account, type Answer, account, formOf } from "../support/api.ts";
import { answerOf, askAs, askDemo, visit } from "./visit.ts";

interface Visitor {
  readonly owner: Account;
  readonly roomId: string;
  readonly userId: string;
  readonly token: string;
}

const settingsOf = ({ id }: Account) => ({ ...env, DEMO_ACCOUNT_ID: id });

async function visitor(owner?: Account, customId = "demo:test"): Promise<Visitor> {
  const host = owner ?? (await account());
  const found = await host.api.get<{ rooms: { id: string; custom_id?: string }[] }>("/rooms");
  const room = found.data.rooms.find(({ custom_id }) => custom_id === customId);
  const roomId = room?.id ?? (await host.api.createRoom({ customId })).id;
  const { id: userId, token } = await host.api.createUser(roomId);
  return { owner: host, roomId, userId, token };
}

async function upload({ owner, roomId, userId, token }: Visitor, bytes = 1): Promise<Answer> {
  const file = new File([new Uint8Array(bytes)], "a.bin");
  const body = formOf({ roomId, userId }, file);
  return answerOf(await askDemo(owner.id, owner.api.as(token).request("POST", "/upload", { body })));
}

const filesOf = async ({ owner, roomId }: Visitor): Promise<number> =>
  (await owner.api.get<{ total: number }>(`/files?roomId=${roomId}`)).data.total;

it("each file is small", async () => {
  const ada = await visitor();
  expect((await upload(ada, BOARD.uploads.maxFileBytes)).status).toBe(201);
  for (const bytes of [BOARD.uploads.maxFileBytes + 1, 9 * 1024 * 1024]) {
    const { status, error } = await upload(ada, bytes);
    expect([status, error?.code]).toEqual([400, "BAD_REQUEST"]);
  }
  expect(await filesOf(ada)).toBe(1);
});

it("each visitor keeps a few files, even of uploads at once", async () => {
  const ada = await visitor();
  const attempts = Array.from({ length: BOARD.uploads.maxPerUser - 1 }, () => upload(ada));
  expect((await Promise.all(attempts)).map(({ status }) => status)).toEqual(attempts.map(() => 201));
  await Promise.all([upload(ada), upload(ada), upload(ada)]);
  expect(await filesOf(ada)).toBeLessThanOrEqual(BOARD.uploads.maxPerUser);
  await upload(ada);
  const { status, error } = await upload(ada);
  expect([status, error?.code]).toEqual([403, "FORBIDDEN"]);
  expect((await upload(await visitor(ada.owner))).status).toBe(201);
});

it("the board keeps a few files of all its visitors", async () => {
  const ada = await visitor();
  const { roomId } = ada;
  const insertion = `INSERT INTO files (key, account_id, room_id, filename, mime_type, media_type, size, uploaded_by, uploaded_at, state)
     SELECT 'k' || value || ?1, ?2, ?1, 'a', 'b/c', 'b/c', 1, 'someone', ?3, 'stored' FROM json_each(?4)`;
  const numbers = JSON.stringify(Array.from({ length: BOARD.uploads.maxPerRoom }, (_, number) => number));
  await env.DB.prepare(insertion).bind(roomId, ada.owner.id, Date.now(), numbers).run();
  const { status, error } = await upload(ada);
  expect([status, error?.message]).toEqual([403, expect.stringContaining("at most 10 files")]);
});

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
  it("is deleted after a day with its files and users, and no other room is", async () => {
    const ada = await visitor();
    await upload(ada);
    await openRooms(ada.owner, ["demo", "demo-2", "demon", "board"], 2 * BOARD.lifetimeMs);
    const settings = settingsOf(ada.owner);
    await runScheduledTasks(settings, Date.now() + BOARD.lifetimeMs - 60_000);
    expect(await customIdsOf(ada.owner)).toEqual(["board", "demo", "demo-2", "demo:test", "demon"]);
    await runScheduledTasks(settings, Date.now() + BOARD.lifetimeMs + 1);
    expect(await customIdsOf(ada.owner)).toEqual(["board", "demo", "demo-2", "demon"]);
    const left = await env.DB.prepare(
      "SELECT count(*) AS total FROM files WHERE room_id = ? AND state = 'stored'",
    );
    expect(await left.bind(ada.roomId).first("total")).toBe(0);
    const { quotas } = (await ada.owner.api.get<{ quotas: { name: string; used: number }[] }>("/quotas"))
      .data;
    expect(quotas.find(({ name }) => name === "users")?.used).toBe(0);
  });

  it("takes the identities, groups and links of its visitors with it, and those of no other board", async () => {
    const owner = await account();
    const [ada, bo] = [await visit(owner.id, "?room=ours&name=Ada"), await visit(owner.id, "?room=theirs")];
    const { token } = ada.data;
    await askAs(owner.id, token, ["POST", "helpers"]);
    const link = { permissions: "viewer", maxUses: 5 };
    const { data } = await askAs<{ secret: string }>(owner.id, token, ["POST", "links", link]);
    await owner.api.post("/links/redeem", { secret: data.secret, name: "Cleo" });
    await askAs(owner.id, bo.data.token, ["GET", "sharing"]);
    await owner.api.post("/identities", { name: "Dan", customId: "demo" });
    const used = async () => {
      const { quotas } = (await owner.api.get<{ quotas: { name: string; used: number }[] }>("/quotas")).data;
      const names = ["identities", "guests", "groups", "group_members", "links", "access_entries"];
      return names.map((name) => quotas.find((quota) => quota.name === name)?.used);
    };
    expect(await used()).toEqual([5, 1, 4, 2, 1, 3]);
    await env.DB.prepare("UPDATE rooms SET created_at = 0 WHERE account_id = ? AND custom_id = 'demo:ours'")
      .bind(owner.id)
      .run();
    for (let run = 0; run < 2; run += 1) await runScheduledTasks(settingsOf(owner), Date.now());
    expect(await used()).toEqual([2, 0, 2, 1, 0, 1]);
  });

  it("gives way to newer ones when there are many, unless someone is in it", async () => {
    const owner = await account();
    await openRooms(owner, numbered(BOARD.keptBoards + 3), 60_000);
    await env.DB.prepare("UPDATE rooms SET active_participants = 1 WHERE account_id = ? AND custom_id = ?")
      .bind(owner.id, "demo:0001")
      .run();
    await runScheduledTasks(settingsOf(owner), Date.now());
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
    await env.DB.prepare("UPDATE rooms SET total_users_created = ? WHERE account_id = ?")
      .bind(BOARD.maxVisitors - 1, owner.id)
      .run();
    const answers = [await visit(owner.id, "?room=full"), await visit(owner.id, "?room=full")];
    expect(answers.map(({ status }) => status)).toEqual([201, 403]);
  });

  it("has room for little in its stores and comments", () => {
    const use = { quota: "store_bytes", used: 7e9, limit: 9e9 } as const;
    const settings = { ...env, DEMO_ACCOUNT_ID: "ours" };
    const board = { accountId: "ours", customId: "demo:1", storeBytes: 5 };
    expect(storeUseOf(settings, board, use)).toEqual({ ...use, used: 5, limit: BOARD.storeBytes });
    expect(storeUseOf(settings, { ...board, customId: "board" }, use)).toBe(use);
    expect(storeUseOf(settings, { ...board, accountId: "theirs" }, use)).toBe(use);
    expect(storeUseOf(settings, board, { ...use, limit: 1 }).limit).toBe(1);
    expect(boardCommentBytes(settings, board)).toBe(BOARD.commentBytes);
    expect(boardCommentBytes(settings, { ...board, customId: "board" })).toBeNull();
  });
});

it("other rooms of the organization have no such bounds", async () => {
  const ada = await visitor(undefined, "board");
  expect((await upload(ada, BOARD.uploads.maxFileBytes + 1)).status).toBe(201);
});

it("boards expire within the calls of one invocation, and the next one goes on", async () => {
  const owner = await account();
  for (let number = 0; number < 4; number += 1)
    await owner.api.createRoom({ customId: `demo:${crypto.randomUUID()}` });
  const boards = async () => (await owner.api.get<{ total: number }>("/rooms")).data.total;
  const expire = async (calls: number) => {
    const budget = new WorkBudget(calls);
    const ports = {
      ...{ rooms: roomGateway(env), blobs: openBlobs(env.FILES), newId: () => crypto.randomUUID() },
      log: (message: string, error: unknown) => expect.unreachable(`${message}: ${error}`),
      relayEvents: async () => budget.spend(), // as the relay does for each subscriber and inbox
    };
    const now = Date.now() + BOARD.lifetimeMs + 1;
    await expireBoards(settingsOf(owner), ports, now, {
      calls: budget,
      queries: new WorkBudget(800, budget),
    });
    return boards();
  };
  expect([await expire(0), await expire(3), await expire(100)]).toEqual([4, 2, 0]);
});
