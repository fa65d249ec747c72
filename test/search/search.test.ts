/** Searches of long lists, which an index answers: with the same results as the list itself. */
import { env } from "cloudflare:workers";
import { fold } from "@atrium/contract/text.ts";
import fc from "fast-check";
import { expect, it } from "vitest";
import { IDENTITIES } from "../../src/features/identities/store.ts";
import { continueIndexes } from "../../src/features/search/index-builder.ts";
import { findHits } from "../../src/features/search/queries.ts";
import { findUsersOfRooms } from "../../src/features/users/queries.ts";
import { selectMatches, selectUsers } from "../../src/features/users/store.ts";
import { decodePosition } from "../../src/http/lists.ts";
import type { Database, ListPosition, Statement } from "../../src/platform/d1/d1.ts";
import { openDirectory } from "../../src/platform/d1/databases.ts";
import { type Account, account, makeGuest } from "../support/api.ts";
import { planOf } from "../support/plan-guard.ts";

/** Completes the indexes of all lists, of which earlier tests may have left some. */
async function build(): Promise<void> {
  const unfinished = env.DB.prepare("SELECT 1 FROM search_lists WHERE state <> 'complete'");
  do await continueIndexes(openDirectory(env), "", console.error);
  while ((await unfinished.first()) !== null);
}

interface List {
  readonly total: number;
  readonly cursor: string | null;
  readonly rooms?: { readonly name: string }[];
  readonly users?: { readonly id: string; readonly name: string }[];
}
const read = async (owner: Account, path: string, query: Record<string, string>) =>
  (await owner.api.get<List>(`/${path}?${new URLSearchParams(query)}`)).data;

const stateOf = async (owner: Account, roomId = "") => {
  const query = "SELECT state FROM search_lists WHERE account_id = ? AND room_id = ?";
  return (await env.DB.prepare(query).bind(owner.id, roomId).first<{ state: string }>())?.state;
};

/** Rooms with these names, at once. */
const insertRooms = async (owner: Account, names: readonly string[]): Promise<void> => {
  const rows = names.map((name, at) => ({ id: crypto.randomUUID(), name, folded: fold(name), at }));
  await env.DB.prepare(
    `INSERT INTO rooms (account_id, id, name, name_folded, state, created_at)
     SELECT ?, value ->> 'id', value ->> 'name', value ->> 'folded', 'active', value ->> 'at' FROM json_each(?)`,
  )
    .bind(owner.id, JSON.stringify(rows))
    .run();
};

/** Has the index of a room's users, however few they are. */
const indexUsers = (owner: Account, roomId: string) =>
  env.DB.prepare("INSERT INTO search_lists (account_id, room_id, state) VALUES (?, ?, 'building')")
    .bind(owner.id, roomId)
    .run();

/** Has the index of the organization's rooms. */
const indexRooms = (owner: Account) => indexUsers(owner, "");

const PARTS = [
  ...'a A ab abc 1 12 - % _ \\ \' " "" * ^ ( ) : ä ß SS ẞ ς Σ İ ı é e\u0301 K Жук жу 李 李明 さくら サ محمد'.split(
    " ",
  ),
  ..."हिन्दी 👩‍👩‍👧 😀 \u{1F1E9}\u{1F1EA} \u202E \uFFFD \uFFFF \u0001 AND OR NOT NEAR".split(" "),
  ...[" ", "  "],
];
const name = fc
  .array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join(""));
const part = fc.tuple(name, fc.nat(6), fc.integer({ min: 1, max: 5 })).map(([text, from, length]) =>
  Array.from(text)
    .slice(from, from + length)
    .join(""),
);

it("finds by the index what the names have, in any script, before and after they change", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(name, { minLength: 4, maxLength: 10 }),
      fc.array(name, { minLength: 1, maxLength: 3 }),
      fc.array(part, { minLength: 4, maxLength: 8 }),
      async (before, later, searches) => {
        const owner = await account();
        const other = await account();
        await insertRooms(owner, before);
        await insertRooms(other, before);
        await indexRooms(owner);
        await insertRooms(owner, later);
        await build();
        expect(await stateOf(owner)).toBe("complete");
        const { rooms = [] } = await read(owner, "rooms", {});
        const ids = rooms.map((room) => ("id" in room ? String(room.id) : ""));
        await owner.api.patch(`/rooms/${ids[0]}`, { name: later[0] });
        await owner.api.delete(`/rooms/${ids[1]}`);
        const names = (await read(owner, "rooms", {})).rooms?.map((room) => room.name) ?? [];
        for (const search of [...searches, ...later].filter((text) => text !== "")) {
          const found = await read(owner, "rooms", { search });
          const expected = names.filter((text) => fold(text).includes(fold(search)));
          expect([found.rooms?.map((room) => room.name), found.total]).toEqual([expected, expected.length]);
        }
      },
    ),
    { numRuns: 12 },
  );
});

it("finds what was just created, renamed or deleted, whether the list is indexed, being indexed, or neither", async () => {
  const owner = await account();
  await insertRooms(owner, ["before"]);
  const found = async (search: string) => (await read(owner, "rooms", { search })).total;
  const states: Record<string, () => Promise<unknown>> = {
    none: async () => {},
    building: () => indexRooms(owner),
    complete: build,
  };
  for (const [state, enter] of Object.entries(states)) {
    await enter();
    expect(await stateOf(owner)).toBe(state === "none" ? undefined : state);
    const { id } = await owner.api.createRoom({ name: `new-${state}` });
    expect(await found(`new-${state}`)).toBe(1);
    await owner.api.patch(`/rooms/${id}`, { name: `renamed-${state}` });
    expect([await found(`new-${state}`), await found(`renamed-${state}`)]).toEqual([0, 1]);
    await owner.api.delete(`/rooms/${id}`);
    expect([await found(`renamed-${state}`), await found("before")]).toEqual([0, 1]);
  }
});

it("finds the users of all rooms, of indexed and other ones, whatever a page may hold and read", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.array(name, { maxLength: 6 }), fc.boolean()), { minLength: 1, maxLength: 5 }),
      fc.array(part, { minLength: 2, maxLength: 4 }),
      fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 5 })),
      async (rooms, searches, [limit, atOnce]) => {
        const owner = await account();
        const tenant = { accountId: owner.id, db: openDirectory(env) };
        const all: { readonly id: string; readonly name: string; readonly room: string }[] = [];
        for (const [names, isIndexed] of rooms) {
          const { id } = await owner.api.createRoom({ name: "Planning" });
          for (const each of names)
            all.push({ ...(await owner.api.createUser(id, { name: each })), name: each, room: id });
          if (isIndexed) await indexUsers(owner, id);
        }
        await build();
        for (const text of [...searches, ...all.slice(0, 1).map(({ id }) => id.slice(0, 8))]) {
          const search = fold(text);
          const found: string[] = [];
          let after: ListPosition | undefined;
          do {
            const page = await findUsersOfRooms(tenant, { ...PAGE, search, limit, after }, atOnce);
            expect(page.users.length).toBeLessThanOrEqual(limit);
            found.push(...page.users.map(({ id, room_id: room }) => `${room} ${id}`));
            after = page.cursor === null ? undefined : (decodePosition(page.cursor) ?? undefined);
          } while (after !== undefined);
          const matching = all.filter(
            (user) => fold(user.name).includes(search) || user.id.toUpperCase().startsWith(search),
          );
          expect(found.toSorted()).toEqual(matching.map(({ id, room }) => `${room} ${id}`).toSorted());
          const order = found.map((one) => one.split(" ")[0]);
          expect(order).toEqual(order.toSorted());
        }
      },
    ),
    { numRuns: 12 },
  );
});

const PAGE = { limit: 1, offset: 0, from: 0, to: 1 };

/** Longer lists have an index. */
const LONG = 10_000;

it("indexes a list as it grows long, finds a common text in it as a rare one, and clears the index after it", async () => {
  const owner = await account();
  const room = await owner.api.createRoom({ customId: "crowd" });
  const insertUsers = (from: number, to: number) =>
    env.DB.prepare(
      `INSERT INTO users (id, account_id, room_id, name, name_folded, role, created_at)
       SELECT printf('%08x-%04d-4000-8000-%012d', value * 2654435761 % 4294967296, value % 10000, value), ?, ?,
         'Guest ' || value, 'GUEST ' || value, 'editor', value
       FROM json_each(?)`,
    )
      .bind(owner.id, room.id, JSON.stringify(Array.from({ length: to - from }, (_, i) => from + i)))
      .run();
  await insertUsers(0, LONG);
  expect(await stateOf(owner, room.id)).toBeUndefined();
  await insertUsers(LONG, LONG + 205);
  expect(await stateOf(owner, room.id)).toBe("building");
  const search = async (query: Record<string, string>) => {
    const { users = [], total } = await read(owner, "users", { roomId: room.id, limit: "3", ...query });
    return [users.map((user) => user.name), total];
  };
  const searches = async () => [
    await search({ search: "guest" }),
    await search({ search: "g", offset: `${LONG + 203}` }),
    await search({ search: "guest 12" }),
    await search({ search: "12", sort: "name" }),
    await search({ search: "guest", sort: "name", offset: "2" }),
    await search({ search: "Guest", to: new Date(1).toISOString() }),
    await search({ search: "a" }),
    await search({ search: "e" }),
    await search({ search: "00000000-" }),
    await search({ search: "none of them" }),
  ];
  const plain = await searches();
  expect(plain[0]).toEqual([["Guest 10204", "Guest 10203", "Guest 10202"], 10_205]);
  expect(plain[5]).toEqual([["Guest 1", "Guest 0"], 2]);
  await build();
  expect(await stateOf(owner, room.id)).toBe("complete");
  expect(await searches()).toEqual(plain);
  const hits = await findHits(
    openDirectory(env),
    { accountId: owner.id, roomId: room.id },
    { text: "12", withIds: true },
  );
  const page = { ...PAGE, search: "12", hits };
  const tenant = { accountId: owner.id, db: openDirectory(env) };
  const [step] = await planOf(selectUsers(tenant, { roomId: room.id }, page));
  expect(step).toBe("SEARCH users USING INDEX sqlite_autoindex_users_1 (id=?)");
  const steps = await planOf(selectMatches(tenant, { ...PAGE, search: "12" }, [], 10));
  expect(steps).toContain(
    "SEARCH users USING COVERING INDEX users_by_name (account_id=? AND room_id=? AND name_folded>?) LEFT-JOIN",
  );
  const everywhere = () => read(owner, "organization/users", { search: "guest 1234" });
  expect((await everywhere()).users?.map((user) => user.name)).toEqual(["Guest 1234"]);
  const rooms = await owner.api.get<{ users: unknown[]; usersTotal: number }>(
    "/rooms/custom/crowd?search=guest%20120",
  );
  expect([rooms.data.users.length, rooms.data.usersTotal]).toEqual([11, 11]);

  const first = await read(owner, "users", { roomId: room.id, search: "12", limit: "1" });
  const next = { roomId: room.id, search: "12", limit: "1", after: first.cursor ?? "" };
  expect((await read(owner, "users", next)).users?.[0]?.name).toBe("Guest 10128");

  await owner.api.delete(`/rooms/${room.id}`);
  expect(await stateOf(owner, room.id)).toBe("removed");
  const list = await env.DB.prepare("SELECT number FROM search_lists WHERE room_id = ?")
    .bind(room.id)
    .first();
  const left = () =>
    env.DB.prepare("SELECT count(*) AS n FROM search_items WHERE list = ?").bind(list?.number).first("n");
  expect(await left()).toBe(10_205);
  await build();
  expect(await stateOf(owner, room.id)).toBeUndefined();
  expect(await left()).toBe(0);
});

it("indexes identities once there are many, and groups, and finds the same as in their lists", async () => {
  const owner = await account();
  const insert = (from: number, to: number) =>
    env.DB.prepare(
      `INSERT INTO identities (account_id, id, kind, name, name_folded, created_at)
       SELECT ?, printf('%08x-0000-4000-8000-%012d', value * 2654435761 % 4294967296, value), 'person',
         'Uma ' || value, 'UMA ' || value, value FROM json_each(?)`,
    )
      .bind(owner.id, JSON.stringify(Array.from({ length: to - from }, (_, i) => from + i)))
      .run();
  await insert(0, LONG);
  expect(await stateOf(owner, "identities")).toBeUndefined();
  await insert(LONG, LONG + 5);
  expect(await stateOf(owner, "identities")).toBe("building");
  const room = await owner.api.createRoom();
  await makeGuest(owner.api, room.id);
  const team = (await owner.api.post<{ group: { id: string } }>("/groups", { name: "Design" })).data.group;
  await owner.api.post("/groups", { name: "Sales" });
  await indexUsers(owner, "groups");
  const found = async (list: "identities" | "groups", query: Record<string, string>) => {
    const { data } = await owner.api.get<Record<string, { name: string }[]> & { total: number }>(
      `/${list}?${new URLSearchParams({ limit: "3", ...query })}`,
    );
    return [data[list]?.map(({ name }) => name), data.total];
  };
  const searches = async () => [
    await found("identities", { search: "uma" }),
    await found("identities", { search: "uma 123" }),
    await found("identities", { search: "12", sort: "name", offset: "2" }),
    await found("identities", { search: "uma", to: new Date(1).toISOString() }),
    await found("identities", { search: "00000000-" }),
    await found("identities", { search: "none of them" }),
    await found("identities", { search: "gale" }),
    await found("groups", { search: "es" }),
    await found("groups", { search: team.id.slice(0, 8) }),
  ];
  const plain = await searches();
  expect(plain[0]).toEqual([["Uma 10004", "Uma 10003", "Uma 10002"], LONG + 5]);
  expect(plain.slice(6)).toEqual([
    [["Gale"], 1],
    [["Sales", "Design"], 2],
    [["Design"], 1],
  ]);
  await build();
  expect([await stateOf(owner, "identities"), await stateOf(owner, "groups")]).toEqual([
    "complete",
    "complete",
  ]);
  expect(await searches()).toEqual(plain);
  const tenant = { accountId: owner.id, db: openDirectory(env) };
  const list = { accountId: owner.id, of: "identities" } as const;
  const hits = await findHits(tenant.db, list, { text: "UMA 123", withIds: true });
  const [step] = await planOf(IDENTITIES.selectPage(tenant, { ...PAGE, search: "UMA 123", hits }));
  expect(step).toBe("SEARCH identities USING INDEX sqlite_autoindex_identities_1 (account_id=? AND id=?)");
  // Users of all rooms are not looked for among them.
  expect((await read(owner, "organization/users", { search: "uma 123" })).users).toEqual([]);
  const made = await owner.api.post<{ identity: { id: string } }>("/identities", { name: "Zoë" });
  const { id } = made.data.identity;
  expect((await found("identities", { search: "zoë" }))[1]).toBe(1);
  await owner.api.patch(`/identities/${id}`, { name: "Åse" });
  await owner.api.patch(`/groups/${team.id}`, { name: "Drawing" });
  expect([
    await found("identities", { search: "zoë" }),
    await found("identities", { search: "åse" }),
  ]).toEqual([
    [[], 0],
    [["Åse"], 1],
  ]);
  expect(await found("groups", { search: "draw" })).toEqual([["Drawing"], 1]);
  await owner.api.delete(`/identities/${id}`);
  await owner.api.delete(`/groups/${team.id}`);
  expect((await found("identities", { search: "åse" }))[1]).toBe(0);
  expect((await found("groups", { search: "draw" }))[1]).toBe(0);
});

it("the index of a list that cannot be continued, or is long, holds up no other one", async () => {
  const [broken, long, short] = [await account(), await account(), await account()];
  await insertRooms(broken, ["Stuck"]);
  await insertRooms(
    long,
    Array.from({ length: 450 }, (_, at) => `Room ${at}`),
  );
  await insertRooms(short, ["Short"]);
  await build();
  for (const owner of [broken, long, short]) await indexRooms(owner);
  const directory = openDirectory(env);
  const db: Database = {
    run: (statements) => {
      const isOfBroken = ({ sql, params }: Statement) =>
        sql.includes('FROM "rooms"') && params[0] === broken.id;
      if (statements.some(isOfBroken)) throw new Error("It failed");
      return directory.run(statements);
    },
  };
  const failures: string[] = [];
  // One slice of 200 rooms in a turn, and one turn for each list.
  const limits = { lists: 3, turns: 3, concurrency: 1, chunks: 1 };
  await continueIndexes(db, broken.id, (_, error) => failures.push(String(error)), limits);
  expect(failures).toEqual(["Error: It failed"]);
  expect(await stateOf(short)).toBe("complete");
  expect([await stateOf(long), await stateOf(broken)]).toEqual(["building", "building"]);
  // A run that has time for one list takes another one, if it begins elsewhere.
  const once = { lists: 1, turns: 3, concurrency: 1, chunks: 1 };
  await continueIndexes(directory, long.id, console.error, once);
  expect([await stateOf(long), await stateOf(broken)]).toEqual(["complete", "building"]);
  await build();
});
