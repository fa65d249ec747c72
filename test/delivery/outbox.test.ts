/** Commands reach the live room even when the request that wrote them dies before it relays them. */
import { env, exports } from "cloudflare:workers";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { RelayedRows } from "../../src/delivery/outbox/outbox.ts";
import { continueCommand, insertForOnlineRooms } from "../../src/delivery/outbox/outbox-store.ts";
import { relayPending } from "../../src/delivery/outbox-relay.ts";
import { openDelivery } from "../../src/delivery/subscribers.ts";
import { type Database, openDatabase, PING, type Results, type Statement } from "../../src/platform/d1/d1.ts";
import { countingQueries, openAll } from "../../src/platform/d1/databases.ts";
import { type CallBudget, newCallBudget, WorkBudget } from "../../src/platform/flow/work-budget.ts";
import { type RoomGateway, roomGateway } from "../../src/room/host/gateway.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { joinRoom } from "../room/support/join.ts";
import { account } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";

const MINUTE_MS = 60_000;

const emptyOutbox = () => env.DB.prepare("DELETE FROM outbox").run();

const outboxRows = async () => (await env.DB.prepare("SELECT * FROM outbox").all()).results;

/** Writes the rows of a request that commits this command and dies. */
async function leaveBehind(accountId: string, roomId: string, change: object): Promise<void> {
  await env.DB.prepare("INSERT INTO outbox VALUES (?, ?, ?, ?, ?)")
    .bind(crypto.randomUUID(), accountId, roomId, JSON.stringify(change), Date.now())
    .run();
}

/** A request that closes the room, and dies before it relays that. */
async function closeAndDie(accountId: string, roomId: string): Promise<void> {
  await env.DB.prepare("UPDATE rooms SET state = 'closed' WHERE id = ?").bind(roomId).run();
  await leaveBehind(accountId, roomId, { type: "room.closed" });
}

beforeEach(emptyOutbox);
afterAll(emptyOutbox);

const LIMITS = { rowMs: 5_000, pages: 9, concurrency: 1, timeouts: 3 };

/** A run of the cron trigger's relay, a minute from now, with rooms that answer commands by `apply`. */
function relay(
  apply: RoomGateway["apply"],
  {
    limits,
    firstId = "",
    budget = newCallBudget("paid"),
    roomsAtOnce,
    db = openDatabase(env.DB),
    log = () => {},
  }: {
    limits?: typeof LIMITS;
    firstId?: string;
    budget?: CallBudget;
    roomsAtOnce?: number;
    db?: Database;
    log?: (message: string, error: unknown) => void;
  } = {},
): Promise<void> {
  const ports = { db, rooms: { ...roomGateway(env), apply }, ...openDelivery(env), log };
  return relayPending(ports, Date.now() + MINUTE_MS, firstId, budget, limits, roomsAtOnce);
}

const STATS = { activeParticipants: 0, occupiedMs: 0, occupiedSince: null };

/** Notes each room that is asked, and has it answer. */
const noting =
  (applied: string[], answer: (roomId: string) => Promise<never> | typeof STATS): RoomGateway["apply"] =>
  async (roomId) => {
    applied.push(roomId);
    return answer(roomId);
  };

const failing = () => Promise.reject(new Error("It failed"));
const hanging = () => new Promise<never>(() => {});

describe("the outbox", () => {
  it("is empty once a request has relayed its commands", async () => {
    const { api } = await account();
    const room = await api.createRoom();
    const user = await api.createUser(room.id);
    await api.patch(`/users/${user.id}?roomId=${room.id}`, { name: "New" });
    await api.delete(`/users/${user.id}?roomId=${room.id}`);
    await api.patch(`/rooms/${room.id}`, { state: "closed" });
    await api.delete(`/rooms/${room.id}`);
    await expect.poll(outboxRows).toEqual([]);
  });

  it("takes no entry for a missing row or another organization's", async () => {
    const [mine, theirs] = [await account(), await account()];
    const room = await theirs.api.createRoom();
    const user = await theirs.api.createUser(room.id);
    for (const roomId of [room.id, crypto.randomUUID()]) {
      await mine.api.delete(`/rooms/${roomId}`);
      await mine.api.patch(`/rooms/${roomId}`, { state: "closed" });
      await mine.api.patch(`/users/${user.id}?roomId=${roomId}`, { name: "New" });
      await mine.api.delete(`/users/${user.id}?roomId=${roomId}`);
    }
    expect(await outboxRows()).toEqual([]);
  });

  it("is relayed by the cron trigger, which leaves recent entries to their requests", async () => {
    const { id, api } = await account();
    const room = await api.createRoom();
    const user = await api.createUser(room.id);
    const join = await joinRoom(id, room.id, user.token);
    await closeAndDie(id, room.id);
    await runScheduledTasks(env, Date.now());
    expect(await outboxRows()).toHaveLength(1);
    await runScheduledTasks(env, Date.now() + MINUTE_MS);
    expect(await outboxRows()).toEqual([]);
    expect((await join.closed).code).toBe(4403);
    expect((await roomGateway(env).read(room.id, id, [])).stats.activeParticipants).toBe(0);
  });

  it("is relayed past any number of entries that cannot be relayed", async () => {
    const { id, api } = await account();
    const room = await api.createRoom();
    const user = await api.createUser(room.id);
    const join = await joinRoom(id, room.id, user.token);
    const unreadable = `WITH RECURSIVE stuck (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM stuck LIMIT 120)
      INSERT INTO outbox SELECT 'stuck ' || number, ?, ?, 'no JSON', ? FROM stuck`;
    await env.DB.prepare(unreadable)
      .bind(id, room.id, Date.now() - 1)
      .run();
    await closeAndDie(id, room.id);
    await runScheduledTasks(env, Date.now() + MINUTE_MS);
    expect((await join.closed).code).toBe(4403);
    expect(await outboxRows()).toHaveLength(120);
    expectLogged('"no JSON" is not valid JSON');
  });
});

it("a room that hangs holds up no other room's entries, and keeps its own", async () => {
  await leaveBehind("an account", "hangs", { type: "room.updated" });
  await leaveBehind("an account", "hangs", { type: "room.closed" });
  await leaveBehind("an account", "responds", { type: "room.closed" });
  const applied: string[] = [];
  const errors: unknown[] = [];
  await relay(
    noting(applied, (roomId) => (roomId === "responds" ? failing() : hanging())),
    { limits: { ...LIMITS, rowMs: 20, pages: 1, timeouts: 9 }, log: (_, error) => errors.push(error) },
  );
  expect(applied).toEqual(["hangs", "responds"]);
  expect(errors.map(String)).toEqual([
    "Error: The room or a subscriber did not respond in time",
    "Error: It failed",
  ]);
  expect(await outboxRows()).toHaveLength(3);
});

it("an organization with many rooms that hang ends its own run, and costs no other organization any time", async () => {
  for (let room = 0; room < 6; room += 1) await leaveBehind("one", `hangs ${room}`, { type: "room.closed" });
  await leaveBehind("two", "responds", { type: "room.closed" });
  const applied: string[] = [];
  await relay(
    noting(applied, (roomId) => (roomId === "responds" ? failing() : hanging())),
    { limits: { ...LIMITS, rowMs: 20 } },
  );
  expect(applied.filter((room) => room.startsWith("hangs"))).toHaveLength(3);
  expect(applied).toContain("responds");
});

it("organizations for which one run has no time come first in another one, however many are stuck", async () => {
  for (const organization of ["a", "b", "c", "d"])
    await leaveBehind(organization, organization, { type: "room.closed" });
  const orderFrom = async (firstId: string) => {
    const applied: string[] = [];
    await relay(noting(applied, failing), { limits: { ...LIMITS, pages: 3 }, firstId });
    return applied.join("");
  };
  expect(await orderFrom("")).toBe("abc");
  expect(await orderFrom("b")).toBe("bcd");
  expect(await orderFrom("bb")).toBe("cda");
  expect(await orderFrom("e")).toBe("abc");
});

describe("a run of the cron trigger", () => {
  const good = (count: number) =>
    env.DB.prepare(
      `WITH RECURSIVE entries (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM entries LIMIT ?)
       INSERT INTO outbox SELECT 'good ' || number, 'an account', 'room ' || number, ?, ? FROM entries`,
    ).bind(count, JSON.stringify({ type: "room.updated" }), Date.now() - 1);

  it("relays thousands of entries by few queries", async () => {
    await good(3_000).run();
    let queries = 0;
    const db = openDatabase({
      prepare: (sql) => env.DB.prepare(sql),
      batch: (statements) => {
        queries += 1;
        return env.DB.batch(statements);
      },
    });
    await relay(
      noting([], () => STATS),
      { db },
    );
    expect(await outboxRows()).toEqual([]);
    expect(queries).toBeLessThan(100);
  });

  it("makes as many calls as one invocation may, and leaves the rest to the next one", async () => {
    await good(250).run();
    const applied: string[] = [];
    const run = () => {
      const calls = new WorkBudget(120);
      const budget = { calls, queries: new WorkBudget(9_999, calls) };
      return relay(
        noting(applied, () => STATS),
        { budget },
      );
    };
    await run();
    expect(applied.length).toBeGreaterThan(100);
    expect(applied.length).toBeLessThan(130);
    await run();
    await run();
    expect(await outboxRows()).toEqual([]);
    expect(new Set(applied).size).toBe(250);
    expect(applied).toHaveLength(250);
  });

  it("counts each batch on a database of its bindings", async () => {
    const queries = new WorkBudget(2);
    const databases = openAll(countingQueries(env, queries));
    await databases.get("DB")?.run([PING, PING]);
    expect(queries.hasLeft).toBe(true);
    await databases.get("DB_2")?.run([PING]);
    expect(queries.hasLeft).toBe(false);
  });

  it("does each task of each database once, in no more invocations than the platform allows", async () => {
    const runs: (readonly string[])[] = [];
    await runScheduledTasks(env, Date.now(), async (names) => void runs.push(names));
    const names = runs.flat();
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(["outbox in DB", "outbox in DB_3", "moves"]));
    expect(runs.length).toBeLessThan(32);
  });

  it("makes an invocation for a task by the Worker's own entrypoint", async () => {
    const { id, api } = await account();
    const room = await api.createRoom();
    await leaveBehind(id, room.id, { type: "room.updated" });
    await exports.ScheduledTasks.run(["outbox in DB"], Date.now() + MINUTE_MS);
    expect(await outboxRows()).toEqual([]);
  });
});

describe("a command for all rooms with users online", () => {
  const all = (accountId: string) => ({
    accountId,
    command: JSON.stringify({ type: "tokens.ended", userId: null }),
    at: Date.now(),
  });

  /** Rooms that D1 has as online, some of which were created in the same millisecond. */
  async function withRoomsOnline(accountId: string, count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, () => crypto.randomUUID());
    const rooms = ids.map((id, index) =>
      env.DB.prepare(
        `INSERT INTO rooms (account_id, id, name, name_folded, state, created_at) VALUES (?, ?, '', '', 'active', ?)`,
      ).bind(accountId, id, Math.floor(index / 3)),
    );
    await env.DB.batch(rooms);
    await env.DB.prepare("UPDATE rooms SET active_participants = 1 WHERE account_id = ?")
      .bind(accountId)
      .run();
    return ids;
  }

  it("is written in chunks, each once, and reaches each of them, whatever fails and dies in between", async () => {
    const [owner, neighbour] = [await account(), await account()];
    const ids = await withRoomsOnline(owner.id, 11);
    await withRoomsOnline(neighbour.id, 2);
    const offline = await owner.api.createRoom();
    const db = openDatabase(env.DB);
    const [first] = await db.run([insertForOnlineRooms(all(owner.id), null, 3)]);
    expect(first.map(({ isUnfinished }) => isUnfinished)).toEqual([0, 0, 1]);
    const applied: unknown[][] = [];
    const apply: RoomGateway["apply"] = async (roomId, accountId, command) => {
      const isFirst = !applied.some(([id]) => id === roomId);
      applied.push([roomId, accountId, command]);
      return isFirst ? failing() : STATS;
    };
    const run = () => relay(apply, { limits: LIMITS, roomsAtOnce: 3 });
    const seen: number[] = [];
    for (let runs = 0; runs < 9 && (runs === 0 || seen.at(-1) !== 0); runs += 1) {
      await run();
      seen.push((await outboxRows()).length);
    }
    expect(Math.max(...seen)).toBeLessThanOrEqual(6);
    const command = { type: "tokens.ended", userId: null };
    const expected = ids.flatMap((id) => [
      [id, owner.id, command],
      [id, owner.id, command],
    ]);
    expect(applied.toSorted()).toEqual(expected.toSorted());
    expect(applied.map(([id]) => id)).not.toContain(offline.id);
  });

  it("is continued by one of two runs that find the same entry", async () => {
    const owner = await account();
    await withRoomsOnline(owner.id, 7);
    const db = openDatabase(env.DB);
    const [first] = await db.run([insertForOnlineRooms(all(owner.id), null, 3)]);
    const last = first.find(({ isUnfinished }) => isUnfinished === 1);
    const { behind } = JSON.parse(String((await outboxRows()).find(({ id }) => id === last?.id)?.change)) as {
      behind: number;
    };
    const from = { id: last?.id ?? "", roomId: last?.roomId ?? "", behind };
    for (const expected of [6, 6]) {
      await db.run(continueCommand(all(owner.id), from, 3));
      expect(await outboxRows()).toHaveLength(expected);
    }
  });
});

// Rows of the outbox that are deleted together: which ones, when, and also after their request ends.

/** Results of statements without rows. The type of a statement names its rows, of which there are none. */
const noRowsOf = <T extends readonly Statement[]>(statements: T): Results<T> =>
  statements.map(() => []) as unknown as Results<T>;

function subject() {
  const clock = { now: 0 };
  const trips: string[][] = [];
  const waits: { readonly ms: number; end(): void }[] = [];
  const database = { fails: false };
  const db: Database = {
    run: async (statements) => {
      trips.push(statements.map(({ sql, params }) => `${/outbox\w*/.exec(sql)?.[0]} ${params[0]}`));
      if (database.fails) throw new Error("The database failed");
      return noRowsOf(statements);
    },
  };
  const rows = new RelayedRows({
    now: () => clock.now,
    wait: (ms) => new Promise<void>((end) => waits.push({ ms, end })),
  });
  /** Resolves when the deferred work of the request is done; at once when there is none. */
  const remove = (id: string, kind: "commands" | "events" = "events", accountId = "a"): Promise<unknown> => {
    const deferred: Promise<unknown>[] = [];
    rows.delete({ db, defer: (work) => deferred.push(work) }, accountId, kind, id);
    return Promise.all(deferred);
  };
  return { clock, database, trips, waits, remove };
}

it("the first one waits for a moment, and deletes those that came meanwhile in one trip", async () => {
  const { trips, waits, remove } = subject();
  const first = remove("1");
  await Promise.all([remove("2"), remove("c", "commands"), remove("3")]);
  expect([trips, waits.map(({ ms }) => ms)]).toEqual([[], [50]]);
  waits[0]?.end();
  await first;
  expect(trips).toEqual([['outbox ["c"]', 'outbox_events ["1","2","3"]']]);
  void remove("4");
  expect(waits).toHaveLength(2);
});

it("no organization waits for another one", () => {
  const { waits, remove } = subject();
  void remove("1", "events", "a");
  void remove("1", "events", "b");
  expect(waits).toHaveLength(2);
});

it("two hundred are deleted at once, and none of them again", async () => {
  const { trips, waits, remove } = subject();
  const first = remove("0");
  for (let id = 1; id < 199; id += 1) await remove(`${id}`);
  expect(trips).toEqual([]);
  await remove("199");
  expect(trips).toEqual([[expect.stringMatching(/^outbox_events \["0",.*"199"\]$/)]]);
  const next = remove("200");
  waits[0]?.end();
  await first;
  expect(trips).toHaveLength(1);
  waits[1]?.end();
  await next;
  expect(trips[1]).toEqual(['outbox_events ["200"]']);
});

it("what fails is left to the cron trigger, and holds up nothing", async () => {
  const { database, trips, waits, remove } = subject();
  const first = remove("1");
  database.fails = true;
  waits[0]?.end();
  await expect(first).rejects.toThrow("The database failed");
  database.fails = false;
  const second = remove("2");
  waits[1]?.end();
  await second;
  expect(trips.at(-1)).toEqual(['outbox_events ["2"]']);
});

it("a request that was ended is replaced by a later one, which deletes its rows too", async () => {
  const { clock, trips, waits, remove } = subject();
  void remove("1");
  clock.now = 4_999;
  await remove("2");
  clock.now = 5_000;
  const third = remove("3");
  waits[1]?.end();
  await third;
  expect(trips).toEqual([['outbox_events ["1","2","3"]']]);
});
