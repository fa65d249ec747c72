/** Lists: complete pages without repetition, literal case-insensitive search, and date filters. */
import { env } from "cloudflare:workers";
import type { Room } from "@atrium/contract/resources/room.ts";
import { fold } from "@atrium/contract/text.ts";
import fc from "fast-check";
import { base64url } from "jose";
import { describe, expect, it } from "vitest";
import { insertRoom, selectRooms, updateStats } from "../../src/features/rooms/store.ts";
import { newRoomRow, STILL_ACTIVE } from "../../src/features/rooms/table.ts";
import { openTenant } from "../../src/platform/d1/databases.ts";
import { type Account, account } from "../support/api.ts";
import { planOf } from "../support/plan-guard.ts";

interface RoomPage {
  readonly rooms: Room[];
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  readonly cursor: string | null;
}

const list = async (owner: Account, query: Record<string, string> = {}) =>
  (await owner.api.get<RoomPage>(`/rooms?${new URLSearchParams(query)}`)).data;

const encoder = new TextEncoder();

/** Compares as SQLite does: numbers as such, texts by their bytes. */
function compare(a: number | string, b: number | string): number {
  if (typeof a === "number" || typeof b === "number") return Number(a) - Number(b);
  const [left, right] = [encoder.encode(a), encoder.encode(b)];
  const at = left.findIndex((byte, i) => byte !== right[i]);
  return at === -1 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? -1);
}

/** An organization whose rooms have these names and were created at these times. */
async function withRooms(
  rooms: readonly { name: string; createdAt?: number; lastActiveAt?: number }[],
): Promise<Account> {
  const owner = await account();
  const tenant = openTenant(env, owner.id);
  const statements = rooms.map(({ name, createdAt = 0, lastActiveAt = 0 }) =>
    insertRoom(
      tenant,
      newRoomRow({ accountId: owner.id, id: crypto.randomUUID(), name, createdAt, lastActiveAt }),
    ),
  );
  const [first, ...others] = statements;
  if (first !== undefined) await tenant.db.run([first, ...others]);
  return owner;
}

describe("pages", () => {
  it.each(["offsets", "cursors"])(
    "that follow %s show each item once, newest first, however they are cut and however many share a millisecond",
    async (by) => {
      const times = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 30 });
      await fc.assert(
        fc.asyncProperty(times, fc.integer({ min: 1, max: 12 }), async (createdAts, size) => {
          const owner = await withRooms(createdAts.map((createdAt) => ({ name: "x", createdAt })));
          const [all, limit] = [(await list(owner)).rooms, String(size)];
          const isNewer = (a: Room, b: Room) =>
            b.created_at.localeCompare(a.created_at) || (a.id < b.id ? 1 : -1);
          expect(all).toEqual(all.toSorted(isNewer));
          const found: Room[] = [];
          for (let page = await list(owner, { limit }); ; ) {
            expect(page).toMatchObject({ total: createdAts.length, limit: size, offset: found.length });
            found.push(...page.rooms);
            if (page.cursor === null) break;
            // A cursor leaves out new items.
            if (by === "cursors") await owner.api.createRoom();
            const next = by === "cursors" ? { after: page.cursor } : { offset: String(found.length) };
            page = await list(owner, { limit, ...next });
          }
          expect(found).toEqual(all);
        }),
        { numRuns: 25 },
      );
    },
  );

  it("that follow a cursor keep its filters, and may skip some of what follows", async () => {
    const owner = await withRooms(
      ["a", "b1", "c", "b2", "b3", "b4"].map((name, createdAt) => ({ name, createdAt })),
    );
    const first = await list(owner, { search: "b", limit: "1" });
    expect(first).toMatchObject({ rooms: [{ name: "b4" }], total: 4 });
    const after = first.cursor ?? "";
    expect(await list(owner, { search: "b", limit: "1", offset: "1", after })).toMatchObject({
      rooms: [{ name: "b2" }],
      total: 4,
      offset: 2,
    });
    const until = { search: "b", to: new Date(1).toISOString(), after };
    expect(await list(owner, until)).toMatchObject({ rooms: [{ name: "b1" }], cursor: null });
  });

  it("refuse a cursor that is none", async () => {
    const owner = await account();
    const forged = [
      [-1, "id", 0, 0],
      [0, "", 0, 0],
      [0, "id", 0],
      [0, "id", 0, 0, 0],
      ["0", "id", 0, 0],
      null,
      {},
    ];
    for (const after of [
      "",
      "?",
      "bm8",
      ...forged.map((position) => base64url.encode(JSON.stringify(position))),
    ]) {
      expect(await owner.api.get(`/rooms?${new URLSearchParams({ after })}`)).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST" },
      });
    }
  });

  it("have 50 items unless asked otherwise, and 100 at most", async () => {
    const owner = await withRooms(Array.from({ length: 101 }, (_, i) => ({ name: `${i}`, createdAt: i })));
    expect(await list(owner)).toMatchObject({ limit: 50, offset: 0, total: 101 });
    expect((await list(owner)).rooms).toHaveLength(50);
    for (const limit of ["100", "101", "999999999999999999999"]) {
      const page = await list(owner, { limit });
      expect(page.limit).toBe(100);
      expect(page.rooms).toHaveLength(100);
    }
    expect(await list(owner, { offset: "9007199254740991" })).toMatchObject({ rooms: [], total: 101 });
  });
});

describe("the order", () => {
  const SORTS = ["created_at", "-created_at", "name", "-name", "last_active_at", "-last_active_at"];

  it("is by any field in both directions, complete however its pages are cut, and carried by cursors", async () => {
    const room = fc.record({
      name: fc.constantFrom("a", "B", "b", "ä", "Z", "10", "9", "ß", "\u{10FFFF}", "\u0001".repeat(255)),
      createdAt: fc.integer({ min: 0, max: 3 }),
      lastActiveAt: fc.constantFrom(0, 1, 2, STILL_ACTIVE + 1),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(room, { maxLength: 15 }),
        fc.constantFrom(...SORTS),
        fc.integer({ min: 1, max: 6 }),
        async (made, sort, limit) => {
          const owner = await withRooms(made);
          const { results: rows } = await env.DB.prepare("SELECT * FROM rooms WHERE account_id = ?")
            .bind(owner.id)
            .all<Record<string, string | number>>();
          const column = sort.replace("-", "").replace("name", "name_folded");
          const sign = sort.startsWith("-") ? -1 : 1;
          const expected = rows.toSorted(
            (a, b) => sign * (compare(a[column] ?? "", b[column] ?? "") || compare(a.id ?? "", b.id ?? "")),
          );
          const found: string[] = [];
          let page = await list(owner, { sort, limit: String(limit) });
          for (;;) {
            expect(page).toMatchObject({ total: made.length, offset: found.length });
            found.push(...page.rooms.map(({ id }) => id));
            if (page.cursor === null) break;
            page = await list(owner, { limit: String(limit), after: page.cursor });
          }
          expect(found).toEqual(expected.map(({ id }) => id));
        },
      ),
      { numRuns: 15 },
    );
  });

  it("goes with dates, filters and a search", async () => {
    const owner = await withRooms(["b2", "a", "b1", "b3"].map((name, createdAt) => ({ name, createdAt })));
    const query = { sort: "-name", search: "B", to: new Date(2).toISOString(), state: "active" };
    const { rooms, total } = await list(owner, query);
    expect([rooms.map(({ name }) => name), total]).toEqual([["b2", "b1"], 2]);
  });

  it("is refused when there is no such field, and when a cursor has another one", async () => {
    const owner = await withRooms([{ name: "a" }, { name: "b" }]);
    const { cursor: after } = await list(owner, { limit: "1", sort: "name" });
    const refusals = [
      { sort: "id" },
      { sort: "--name" },
      { sort: "" },
      { sort: "-name", after: after ?? "" },
      { after: base64url.encode(JSON.stringify([0, "id", 0, 0, "size"])) },
    ];
    for (const query of refusals) {
      expect(await owner.api.get(`/rooms?${new URLSearchParams(query)}`)).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST" },
      });
    }
    const newest = await list(owner, { limit: "1" });
    const next = { limit: "1", after: newest.cursor ?? "" };
    expect(await list(owner, { ...next, sort: "-created_at" })).toEqual(await list(owner, next));
  });

  it("is read from an index, without sorting", async () => {
    for (const [after, sort] of SORTS.flatMap((each) => [[false, each] as const, [true, each] as const])) {
      const page = {
        ...{ limit: 20, offset: 0, search: "", from: 0, to: 1 },
        order: { by: sort.replace("-", ""), descending: sort.startsWith("-") },
        after: after ? { key: 1, id: "id" } : undefined,
      };
      const plan = await planOf(selectRooms(openTenant(env, "account"), page));
      expect(plan.join()).toMatch(/^SEARCH rooms USING INDEX \w+ \([^()]*\)$/);
    }
  });
});

describe("search", () => {
  it("finds exactly the names that contain the text, whatever its case", async () => {
    const nasty = fc.constantFrom(
      "%",
      "_",
      "\\",
      "'",
      '"',
      "*",
      "?",
      "[",
      "ä",
      "Ä",
      "ß",
      "SS",
      "ς",
      "Σ",
      "İ",
      "i",
      "é",
      "é",
      "😀",
      "\u202E",
      " ",
      ";--",
    );
    const name = fc
      .array(fc.oneof(nasty, fc.string({ unit: "grapheme", minLength: 1, maxLength: 2 })), {
        minLength: 1,
        maxLength: 5,
      })
      .map((parts) => parts.join(""));
    const searchable = name.filter((text) => !text.includes("\0"));
    await fc.assert(
      fc.asyncProperty(
        fc.array(searchable, { minLength: 1, maxLength: 6 }),
        searchable,
        fc.nat(5),
        async (names, other, from) => {
          const owner = await withRooms(names.map((text) => ({ name: text })));
          const part = (names[0] ?? "").slice(from).toWellFormed().replaceAll("\uFFFD", "");
          for (const search of [other, part, part.toUpperCase(), part.toLowerCase()]) {
            const found = (await list(owner, { search })).rooms.map((room) => room.name);
            const expected = names.filter((text) => fold(text).includes(fold(search)));
            expect(found.toSorted()).toEqual(expected.toSorted());
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it("does not filter by the empty text", async () => {
    expect((await list(await withRooms([{ name: "x" }]), { search: "" })).total).toBe(1);
  });
});

it("dates include items created at exactly that millisecond", async () => {
  const at = Date.UTC(2026, 4, 17, 12);
  const owner = await withRooms(
    [at - 1, at, at + 1].map((createdAt) => ({ name: `${createdAt - at}`, createdAt })),
  );
  const time = new Date(at).toISOString();
  const names = async (query: Record<string, string>) =>
    (await list(owner, query)).rooms.map((room) => room.name);
  expect(await names({ from: time })).toEqual(["1", "0"]);
  expect(await names({ to: time })).toEqual(["0", "-1"]);
  expect(await names({ from: time, to: time })).toEqual(["0"]);
  expect(await names({ from: "2026-05-17T14:00:00+02:00", to: "2026-05-17T07:00:00.000-05:00" })).toEqual([
    "0",
  ]);
  expect(await names({ from: "2026-05-17", to: "2026-05-17" })).toEqual(["1", "0", "-1"]);
  expect(await names({ from: "2026-05-18" })).toEqual([]);
  expect(await names({ to: "2026-05-16" })).toEqual([]);
  expect(await names({ from: "2026-05-18", to: "2026-05-16" })).toEqual([]);
});

describe("the filters of rooms", () => {
  it("select by state and by whether users are online, and combine with a search", async () => {
    const owner = await withRooms(
      ["Ada", "Bo", "Cleo", "Adam"].map((name, createdAt) => ({ name, createdAt })),
    );
    const [adam, cleo, bo, ada] = (await list(owner)).rooms;
    await owner.api.patch(`/rooms/${ada?.id}`, { state: "closed" });
    const { db } = openTenant(env, owner.id);
    const stats = { activeParticipants: 2, occupiedMs: 0, occupiedSince: 1, storeBytes: 0, at: 2 };
    const busy = [updateStats({ db, accountId: owner.id }, bo?.id ?? "", stats, 1)] as const;
    await db.run([...busy, updateStats({ db, accountId: owner.id }, ada?.id ?? "", stats, 1)]);
    const found = async (query: Record<string, string>) => {
      const { rooms, total } = await list(owner, query);
      return [rooms.map(({ name }) => name), total];
    };
    expect(await found({ state: "closed" })).toEqual([["Ada"], 1]);
    expect(await found({ state: "active", limit: "2" })).toEqual([[adam?.name, cleo?.name], 3]);
    expect(await found({ online: "true" })).toEqual([["Bo", "Ada"], 2]);
    expect(await found({ online: "false" })).toEqual([["Adam", "Cleo"], 2]);
    expect(await found({ online: "true", state: "active", search: "o" })).toEqual([["Bo"], 1]);
    expect(await found({ online: "false", to: new Date(2).toISOString() })).toEqual([["Cleo"], 1]);
    expect(await found({ online: "true", state: "closed" })).toEqual([["Ada"], 1]);
    for (const query of ["online=yes", "state=open"])
      expect(await owner.api.get(`/rooms?${query}`)).toMatchObject({ status: 400 });
  });

  it("find the rooms online by an index of these alone", async () => {
    const page = { limit: 20, offset: 0, search: "", from: 0, to: 1, isOnline: true };
    const plan = await planOf(selectRooms(openTenant(env, "account"), page));
    expect(plan.join()).toContain("rooms_online");
  });
});
