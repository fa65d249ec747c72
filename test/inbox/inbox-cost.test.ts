/** The cost of inboxes: what access reads of the database, however many rooms and groups there are, and the plans of shards. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { InboxActivity } from "@atrium/contract/resources/inbox.ts";
import { DEFAULTS } from "@atrium/contract/resources/notification-settings.ts";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { selectOpenRooms, selectReaders } from "../../src/features/access/statements.ts";
import { InboxChanges } from "../../src/features/inbox/shard/change-store.ts";
import { InboxDeliveries } from "../../src/features/inbox/shard/delivery-store.ts";
import type { InboxObjectBase } from "../../src/features/inbox/shard/inbox-object.ts";
import { InboxStore } from "../../src/features/inbox/shard/inbox-store.ts";
import { InboxTables } from "../../src/features/inbox/shard/inbox-tables.ts";
import { openTenant } from "../../src/platform/d1/databases.ts";
import { planIn, planOf } from "../support/plan-guard.ts";
import { recordCursors } from "../support/recorded-cursors.ts";
import { batchesOf, rowsReadBy } from "../support/rows-read.ts";
import { activity, Inbox, PAGE } from "./support.ts";

const GROUPS = 200;
const ROOMS = 300;
/** The rows of an identity, its organization and its memberships. */
const OF_IDENTITY = 2 * GROUPS + 10;
/** The rows of a room that one of the groups opens: the room, its entry, the membership, and their indexes. */
const PER_ROOM = 10;

const run = (sql: string, ...params: unknown[]) =>
  env.DB.prepare(sql)
    .bind(...params)
    .run();

/** An inbox in 200 groups, each of which opens some rooms. An item is in each room, the first room's the oldest. */
async function makeCrowdedInbox() {
  const inbox = await Inbox.create();
  const { id: accountId } = inbox.owner;
  const tenant = openTenant(env, accountId);
  const idsOf = (count: number) => Array.from({ length: count }, () => crypto.randomUUID());
  const [groups, rooms] = [idsOf(GROUPS), idsOf(ROOMS)];
  await run(
    `INSERT INTO identity_groups (account_id, id, name, name_folded, created_at)
     SELECT ?, value, 'Group', 'group', 1 FROM json_each(?)`,
    ...[accountId, JSON.stringify(groups)],
  );
  await run(
    `INSERT INTO group_members (account_id, group_id, identity_id, added_at)
     SELECT ?, value, ?, 1 FROM json_each(?)`,
    ...[accountId, inbox.identityId, JSON.stringify(groups)],
  );
  await run(
    `INSERT INTO rooms (account_id, id, name, name_folded, state, created_at)
     SELECT ?, value, 'Room', 'room', 'active', 1 FROM json_each(?)`,
    ...[accountId, JSON.stringify(rooms)],
  );
  await run(
    `INSERT INTO room_access (account_id, room_id, kind, subject_id, permissions)
     SELECT ?, value ->> 0, 'group', value ->> 1, '["*:read"]' FROM json_each(?)`,
    ...[accountId, JSON.stringify(rooms.map((id, index) => [id, groups[index % GROUPS]]))],
  );
  const at = Date.now();
  await inbox.deliver(
    rooms.map((roomId, index) => activity({ roomId, subjectId: roomId, at: at - ROOMS + index })),
  );
  return { inbox, tenant, groups, rooms, newest: rooms.toReversed() };
}

describe("an inbox of very many rooms, whose identity is in 200 groups", () => {
  let crowded: Awaited<ReturnType<typeof makeCrowdedInbox>>;
  beforeAll(async () => {
    crowded = await makeCrowdedInbox();
  });

  const subjects = async (limit: number) => {
    const { inbox } = crowded;
    const page = await inbox.object.list(inbox.caller, { ...PAGE, limit });
    return page?.notifications.map(({ subject_id }) => subject_id);
  };

  it("reads the access to the rooms of a page alone for a list", async () => {
    let listed: unknown;
    const read = await rowsReadBy(async () => {
      listed = await subjects(20);
    });
    expect(listed).toEqual(crowded.newest.slice(0, 20));
    expect(read).toBeLessThan(OF_IDENTITY + 20 * PER_ROOM);
  });

  it("goes on behind items that are hidden until a list is full, in few trips", async () => {
    const { tenant, newest } = crowded;
    const hidden = JSON.stringify(newest.slice(0, 200));
    const setPermissions = (permissions: string) =>
      run(
        "UPDATE rooms SET deleted_at = ? WHERE account_id = ? AND id IN (SELECT value FROM json_each(?))",
        ...[permissions === "none" ? 1 : null, tenant.accountId, hidden],
      );
    await setPermissions("none");
    let listed: unknown;
    const batches = await batchesOf(async () => {
      listed = await subjects(20);
    });
    await setPermissions("read");
    expect(listed).toEqual(newest.slice(200, 220));
    expect(batches.length).toBeLessThan(6);
  });

  it("reads a few rows of each room with unread items for a count, and of the item's room alone for a deletion", async () => {
    const { inbox } = crowded;
    const counted = await rowsReadBy(() => inbox.object.count(inbox.caller));
    expect(counted).toBeLessThan(OF_IDENTITY + ROOMS * PER_ROOM);
    const page = await inbox.object.list(inbox.caller, { ...PAGE, limit: 2 });
    const [first = "", second = ""] = page?.notifications.map(({ id }) => id) ?? [];
    expect(await rowsReadBy(() => inbox.object.deleteItem(inbox.caller, first))).toBeLessThan(
      OF_IDENTITY + PER_ROOM,
    );
    await inbox.object.markAll(inbox.caller);
    const marked = await rowsReadBy(() => inbox.object.markItem(inbox.caller, second, null));
    expect(marked).toBeLessThan(OF_IDENTITY + PER_ROOM);
  });

  it("looks groups up from the shorter side: also in a room with very many entries", async () => {
    const { inbox, tenant, rooms } = crowded;
    const [roomId = ""] = rooms;
    const strangers = Array.from({ length: 2_000 }, () => crypto.randomUUID());
    await run(
      `INSERT INTO room_access (account_id, room_id, kind, subject_id, permissions)
       SELECT ?, ?, 'group', value, '["*:read"]' FROM json_each(?)`,
      ...[tenant.accountId, roomId, JSON.stringify(strangers)],
    );
    const read = await rowsReadBy(() => tenant.db.run([selectOpenRooms(tenant, inbox.identityId, [roomId])]));
    expect(read).toBeLessThan(3 * GROUPS + PER_ROOM);
    const stranger = await Inbox.create(inbox.owner, "Ben");
    const ofOther = await rowsReadBy(() =>
      tenant.db.run([selectOpenRooms(tenant, stranger.identityId, rooms)]),
    );
    expect(ofOther).toBeLessThan(ROOMS * PER_ROOM);
  });

  it("finds every entry and membership by an index", async () => {
    const { inbox, tenant, rooms } = crowded;
    for (const statement of [
      selectOpenRooms(tenant, inbox.identityId, rooms),
      selectReaders(tenant, rooms[0] ?? "", [inbox.identityId]),
    ]) {
      const steps = (await planOf(statement)).filter(
        (step) => !/SCALAR SUBQUERY|\(subquery-\d+\)$/.test(step),
      );
      const [asked, ...others] = steps;
      expect(asked).toMatch(/^SCAN asked VIRTUAL TABLE/);
      for (const step of others)
        expect(step).toMatch(
          /^SEARCH (rooms|identities|users|guests|room_links|room_access|group_members) USING (COVERING )?INDEX/,
        );
    }
  });
});

describe("the rooms that an identity may enter", () => {
  const entries = {
    own: [null, ["none"], ["*:read"], ["presence:write"]],
    group: [null, ["*:write"]],
    byDefault: [[], ["comments:read"]],
  };
  const cases = entries.own.flatMap((own) =>
    entries.group.flatMap((group) => entries.byDefault.map((byDefault) => ({ own, group, byDefault }))),
  );

  it.each([0, 3])("are those of which access decides so, among %i groups of others", async (others) => {
    const inbox = await Inbox.create();
    const { api, id } = inbox.owner;
    const makeGroup = async () =>
      (await api.post<{ group: { id: string } }>("/groups", { name: "Team" })).data.group.id;
    const [team, ...strange] = await Promise.all(Array.from({ length: 1 + others }, makeGroup));
    await api.put(`/groups/${team}/members/${inbox.identityId}`);
    const rooms = await Promise.all(
      cases.map(async ({ own, group, byDefault }) => {
        const { id: roomId } = await api.createRoom();
        await api.put(`/rooms/${roomId}/access`, {
          defaultAccesses: byDefault,
          groupsAccesses: {
            [team ?? ""]: group,
            ...Object.fromEntries(strange.map((each) => [each, ["*:write"]])),
          },
          identitiesAccesses: { [inbox.identityId]: own },
        });
        return roomId;
      }),
    );
    const decided = await Promise.all(
      rooms.map(async (roomId) => {
        const { data } = await api.post<{ permissions: string[] }>(`/rooms/${roomId}/access/check`, {
          identityId: inbox.identityId,
        });
        return data.permissions.length > 0 ? [roomId] : [];
      }),
    );
    const tenant = openTenant(env, id);
    const [open] = await tenant.db.run([selectOpenRooms(tenant, inbox.identityId, rooms)]);
    expect(open.map((room) => room.id).toSorted()).toEqual(decided.flat().toSorted());
    expect(open.length).toBeGreaterThan(3);
    expect(open.length).toBeLessThan(rooms.length);
    for (const roomId of rooms) {
      const [[reader]] = await tenant.db.run([selectReaders(tenant, roomId, [inbox.identityId])]);
      expect(reader?.mayRead === 1).toBe(open.some((room) => room.id === roomId));
    }
  });
});

describe("a shard of inboxes", () => {
  it("finds what is due, what is unread and what is listed by an index", async () => {
    const inbox = await Inbox.create();
    await inbox.deliver([activity()]);
    const plans = await runInDurableObject(inbox.stub, async (object, { storage }) => {
      const exec = vi.spyOn(storage.sql, "exec");
      object.deliver([inbox.identityId], [activity({ subjectId: "b" })], DEFAULTS);
      await object.list(inbox.caller, PAGE);
      await object.count(inbox.caller);
      await object.markAll(inbox.caller);
      object.recount([inbox.identityId], "room");
      await object.alarm();
      const statements = new Set(exec.mock.calls.map(([query]) => query.replace(/\?\d/g, "?")));
      exec.mockRestore();
      return [...statements]
        .filter(
          (query) => /^\s*(SELECT|UPDATE|DELETE|INSERT)/.test(query) && !query.includes("sqlite_master"),
        )
        .map((query) => ({ query, steps: planIn(storage, query) }));
    });
    const scans = plans.flatMap(({ query, steps }) =>
      steps.some((step) => /^SCAN (items|forgotten|sendings)\b/.test(step)) ? [query] : [],
    );
    expect(scans).toEqual([]);
    const unread = plans.filter(({ query }) => query.includes("GROUP BY room_id"));
    expect(unread.flatMap(({ steps }) => steps)).toEqual([
      "SEARCH items USING COVERING INDEX items_newest (identity_id=? AND <expr>=? AND notified_at>?)",
      "USE TEMP B-TREE FOR GROUP BY",
    ]);
    const listed = plans.filter(({ query }) => query.includes("UNION ALL SELECT number"));
    const part = "SEARCH items USING INDEX items_newest (identity_id=? AND <expr>=? AND notified_at>?)";
    expect(listed.map(({ steps }) => steps)).toEqual([["MERGE (UNION ALL)", "LEFT", part, "RIGHT", part]]);
    const due = plans.filter(({ query }) => query.includes("FROM inboxes WHERE due <="));
    expect(due.map(({ steps }) => steps)).toEqual([
      ["SEARCH inboxes USING COVERING INDEX inboxes_due (due<?)"],
    ]);
    const found = plans.filter(({ query }) => query.includes("LEFT JOIN forgotten"));
    expect(found.map(({ steps }) => steps)).toEqual([
      [
        "SCAN asked VIRTUAL TABLE INDEX 1:",
        "SEARCH items USING INDEX sqlite_autoindex_items_1 (room_id=? AND kind=? AND subject_id=? AND identity_id=?) LEFT-JOIN",
        "SEARCH forgotten USING PRIMARY KEY (identity_id=? AND id=?) LEFT-JOIN",
      ],
    ]);
  });

  it("reads a row for each of the inboxes that have been due longest, however many are due", async () => {
    const { stub } = await Inbox.create();
    await runInDurableObject(stub, (_, { storage }) => {
      const tables = new InboxTables(storage);
      tables.create();
      const numbers = JSON.stringify(Array.from({ length: 3_000 }, (__, number) => number));
      tables.write(
        "INSERT INTO inboxes (identity_id, due) SELECT 'identity ' || value, 1 + value FROM json_each(?)",
        numbers,
      );
      const cursors = recordCursors(storage.sql);
      expect(tables.dueIdentities(10_000, 3)).toEqual(["identity 0", "identity 1", "identity 2"]);
      expect(cursors.map(({ rowsRead }) => rowsRead)).toEqual([3]);
      tables.write("DELETE FROM inboxes");
    });
  });
});

const POSITION = { roomId: null, kind: "thread", subjectId: "subject", upTo: 1 } as const;

/** Runs `work` with an inbox's shard, and with a function that counts the rows that a call of it writes. */
const metered = (
  work: (
    shard: InboxObjectBase,
    written: (call: () => void | Promise<void>) => Promise<number>,
    identityId: string,
  ) => Promise<void>,
) =>
  Inbox.create().then(({ stub, identityId }) =>
    runInDurableObject(stub, async (shard, { storage }) => {
      const cursors = recordCursors(storage.sql);
      shard.markRead([crypto.randomUUID()], POSITION); // creates the tables
      await work(
        shard,
        async (call) => {
          cursors.length = 0;
          await call();
          return cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0);
        },
        identityId,
      );
    }),
  );

describe("a notification that mails are to carry", () => {
  it("writes five rows in an inbox where nothing waits, and four beside others that wait", () =>
    metered(async (shard, written, identityId) => {
      const deliver = (changes: Partial<InboxActivity>) =>
        written(() => shard.deliver([identityId], [activity(changes)], DEFAULTS));
      // The inbox and the time at which it is due; the item, its subject and its place in the list.
      expect(await deliver({})).toBe(5);
      expect(await deliver({ subjectId: "other" })).toBe(4);
      // A known activity changes nothing.
      const again = activity({ subjectId: "third" });
      expect(await deliver(again)).toBe(4);
      expect(await deliver(again)).toBe(0);
    }));

  it("writes three rows for a further comment, three when it is read, and four for one that waits anew", () =>
    metered(async (shard, written, identityId) => {
      const deliver = (seq: number) =>
        written(() => shard.deliver([identityId], [activity({ seq })], DEFAULTS));
      await deliver(1);
      expect(await deliver(2)).toBe(3);
      expect(await written(() => shard.markRead([identityId], { ...POSITION, upTo: 2 }))).toBe(3);
      expect(await deliver(3)).toBe(4);
    }));

  it("writes five rows in each of many inboxes, also in those that are made for it", () =>
    metered(async (shard, written, identityId) => {
      const identityIds = [identityId, ...Array.from({ length: 49 }, () => crypto.randomUUID())];
      const deliver = (subjectId: string) =>
        written(() => shard.deliver(identityIds, [activity({ subjectId })], DEFAULTS));
      expect(await deliver("subject")).toBe(50 * 5);
      expect(await deliver("other")).toBe(50 * 4);
    }));

  it("writes a row when it is decided on, and all those of an inbox two: the record, and what is due next", () =>
    metered(async (shard, written, identityId) => {
      const now = Date.now();
      const activities = ["a", "b", "c"].map((subjectId) => activity({ subjectId }));
      shard.deliver([identityId], activities, DEFAULTS);
      shard.clock = () => now + 16 * 60_000;
      expect(await written(() => shard.alarm())).toBe(3 + 2);
      expect(await written(() => shard.alarm())).toBe(0);
    }));
});

describe("read positions and tombstones", () => {
  const LIMITS = { items: 3, countedEvery: 1 };

  it("push out no item that is shown, and are as many themselves", async () => {
    const { stub, identityId } = await Inbox.create();
    await runInDurableObject(stub, (_, { storage }) => {
      const tables = new InboxTables(storage);
      const newId = () => crypto.randomUUID();
      const store = new InboxStore(tables, identityId);
      const changes = new InboxChanges(store, newId, LIMITS);
      const deliveries = new InboxDeliveries(tables, newId, LIMITS);
      const now = Date.now();
      for (const [index, subjectId] of ["a", "b", "c"].entries())
        deliveries.deliver({
          ...{ identityIds: [identityId], defaults: DEFAULTS, now },
          activities: [activity({ subjectId, at: now + index })],
        });
      const position = (subjectId: string) => ({ roomId: null, kind: "thread", subjectId }) as const;
      for (const [index, subjectId] of ["c", "read 1", "read 2", "read 3", "read 4"].entries())
        changes.markRead({ ...position(subjectId), upTo: 1 }, now + 10 + index);
      changes.remove({ ...position("gone"), roomId: "" }, now + 20);
      expect(store.list(PAGE, [], now).map(({ subjectId }) => subjectId)).toEqual(["c", "b", "a"]);
      const kept = tables.read<{ subject: string }>(
        "SELECT subject_id AS subject FROM items WHERE seq <= deleted_seq ORDER BY notified_at",
      );
      expect(kept.map(({ subject }) => subject)).toEqual(["read 3", "read 4", "gone"]);
    });
  });
});
