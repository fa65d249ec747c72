/** R32 to R41: stores, and the changes that everyone receives. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { RoomObject } from "../../src/objects.ts";
import { roomLimits } from "../../src/platform/config.ts";
import { SqliteStorage } from "../../src/room/storage/storage.ts";
import { whileTableFails } from "../support/database-failure.ts";
import { expectLogged } from "../support/log-guard.ts";
import { limits, openStores } from "./support/room-ports.ts";
import { failed, roomOfTwo } from "./support/rooms.ts";
import { withStorage } from "./support/with-storage.ts";

describe("a store", () => {
  it("sets, merges and deletes entries, and sends all sockets the changes in order (R32, R37, R38)", async () => {
    const { ada, atAda, atBen } = await roomOfTwo();
    const at = { store: "tasks", key: "__proto__" };
    expect((await atAda.call("STORE_SET", { ...at, value: { a: 1 } })).data).toEqual({ version: 1, seq: 1 });
    expect((await atBen.call("STORE_UPDATE", { ...at, value: { b: 2 } })).data).toEqual({
      version: 2,
      seq: 2,
    });
    expect((await atAda.call("STORE_GET", at)).data).toEqual({ value: { a: 1, b: 2 }, version: 2 });
    const { entries, seq } = (await atBen.call("STORE_SYNC", { store: "tasks" })).data;
    expect([JSON.stringify(entries), seq]).toEqual(['{"__proto__":{"value":{"a":1,"b":2},"version":2}}', 2]);
    expect((await atAda.call("STORE_DELETE", at)).data).toEqual({ seq: 3 });
    expect((await atAda.call("STORE_DELETE", at)).data).toEqual({ seq: 3 });
    expect((await atAda.call("STORE_GET", at)).data).toEqual({ value: null, version: 0 });
    const events = await atBen.takeEvents();
    expect(events).toEqual(await atAda.takeEvents());
    expect(events).toMatchObject([
      {
        seq: 1,
        event: "storeChanged",
        data: { ...at, action: "set", value: { a: 1 }, version: 1, by: ada.user.id, seq: 1 },
      },
      { seq: 2, data: { action: "update", value: { a: 1, b: 2 } } },
      { seq: 3, data: { action: "delete", value: null } },
    ]);
  });

  it("refuses a write that expects another version, and a merge into a value that is not an object (R39)", async () => {
    const { atAda, atBen } = await roomOfTwo();
    const at = { store: "s", key: "k" };
    await atAda.call("STORE_SET", { ...at, value: 1, ifVersion: 0 });
    for (const [type, ifVersion] of [
      ["STORE_SET", 0],
      ["STORE_UPDATE", 7],
      ["STORE_DELETE", 2],
    ] as const)
      expect(await atBen.call(type, { ...at, value: {}, ifVersion })).toEqual(failed("CONFLICT"));
    expect(await atBen.call("STORE_UPDATE", { ...at, value: {} })).toEqual(failed("CONFLICT"));
    expect((await atBen.call("STORE_SET", { ...at, value: 2, ifVersion: 1 })).data).toEqual({
      version: 2,
      seq: 2,
    });
  });

  it("applies a batch completely or not at all (R35, R40)", async () => {
    const { atAda, atBen } = await roomOfTwo();
    const set = (key: string, more = {}) => ({ type: "STORE_SET", store: "s", key, value: key, ...more });
    const refused = [set("a"), set("b", { ifVersion: 9 })];
    expect(await atAda.call("STORE_BATCH", { operations: refused })).toEqual(failed("CONFLICT"));
    expect(await atBen.takeEvents()).toEqual([]);
    expect((await atAda.call("STORE_SYNC", { store: "s" })).data).toEqual({ entries: {}, seq: 0 });
    const done = [set("a"), set("b"), { type: "STORE_DELETE", store: "s", key: "a" }];
    expect((await atAda.call("STORE_BATCH", { operations: done })).data).toEqual({
      results: [{ version: 1, seq: 1 }, { version: 2, seq: 2 }, { seq: 3 }],
      seq: 3,
    });
    expect((await atBen.takeEvents()).map((event) => "seq" in event && event.seq)).toEqual([1, 2, 3]);
    for (const operations of [[], Array.from({ length: 501 }, () => set("a"))])
      expect(await atAda.call("STORE_BATCH", { operations })).toEqual(failed("VALIDATION_ERROR"));
  });

  it("applies or refuses each operation of a batch that is not atomic by itself, once (R34, R40)", async () => {
    const { room, ada, atAda, atBen } = await roomOfTwo();
    const set = (key: string, more = {}) => ({ type: "STORE_SET", store: "s", key, value: key, ...more });
    const operations = [
      set("a"),
      set("b", { ifVersion: 9 }),
      { ...set("a"), type: "STORE_UPDATE", value: {} },
      set("c", { value: "x".repeat(200_000) }),
      set("d".repeat(256)),
      { type: "STORE_DELETE", store: "s", key: "a" },
      set("e"),
    ];
    const refused = (code: string) => ({ error: expect.objectContaining({ code, module: "Rooms" }) });
    const response = await atAda.call("STORE_BATCH", { operations, atomic: false }, "once");
    expect(response.data).toEqual({
      results: [
        { version: 1, seq: 1 },
        refused("CONFLICT"),
        refused("CONFLICT"),
        refused("VALIDATION_ERROR"),
        { error: expect.objectContaining({ message: expect.stringMatching(/^operations\.4\.key: /) }) },
        { seq: 2 },
        { version: 3, seq: 3 },
      ],
      seq: 3,
    });
    expect((await atBen.takeEvents()).map((event) => "seq" in event && event.seq)).toEqual([1, 2, 3]);
    const again = await room.join(ada);
    expect(await again.call("STORE_BATCH", { operations, atomic: false }, "once")).toEqual(response);
    expect((await again.call("STORE_SYNC", { store: "s" })).data).toEqual({
      entries: { e: { value: "e", version: 3 } },
      seq: 3,
    });
    expect((await atAda.call("STORE_BATCH", { operations: [set("f"), {}] })).error).toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringMatching(/^operations\.1\.type: /),
    });
  });

  it("counts what a batch that is partly refused really holds (R41)", async () => {
    const { room, atAda } = await roomOfTwo();
    const set = (store: string) => ({ type: "STORE_SET", store, key: "k", value: 1 });
    const operations = Array.from({ length: 101 }, (_, index) => set(`s${index}`));
    const { results } = (await atAda.call("STORE_BATCH", { operations, atomic: false })).data as {
      results: { error?: { code: string } }[];
    };
    expect(results.map(({ error }) => error?.code ?? "done")).toEqual([
      ...Array(100).fill("done"),
      "CONFLICT",
    ]);
    const deletion = { type: "STORE_DELETE", store: "s0", key: "k" };
    const swapped = await atAda.call("STORE_BATCH", { operations: [deletion, set("another")] });
    expect(swapped.success).toBe(true);
    const sizes = await room.inside((_, { storage }) => new SqliteStorage(storage).entries.listStores());
    expect(sizes.map(({ entries }) => entries)).toEqual(Array(100).fill(1));
  });

  it("writes at most 3 MiB by one batch, however little its updates send (R40)", async () => {
    const { atAda, atBen } = await roomOfTwo();
    await atAda.call("STORE_SET", { store: "s", key: "k", value: { x: "x".repeat(190_000) } });
    const update = { type: "STORE_UPDATE", store: "s", key: "k", value: { n: 1 } };
    const operations = Array(500).fill(update);
    expect(await atAda.call("STORE_BATCH", { operations })).toEqual(failed("VALIDATION_ERROR"));
    const { results } = (await atAda.call("STORE_BATCH", { operations, atomic: false })).data as {
      results: { error?: { code: string } }[];
    };
    expect(results.map(({ error }) => error?.code ?? "done")).toEqual([
      ...Array(17).fill("done"),
      ...Array(483).fill("VALIDATION_ERROR"),
    ]);
    for (let seq = 1; seq <= 18; seq += 1) expect(await atBen.nextEvent()).toMatchObject({ seq });
    expect(await atBen.takeEvents()).toEqual([]);
  });

  it("has limits (R41)", async () => {
    const { atAda } = await roomOfTwo();
    const set = (fields: object) => atAda.call("STORE_SET", { store: "s", key: "k", value: 1, ...fields });
    for (const fields of [
      { store: "x".repeat(129) },
      { store: "" },
      { key: "x".repeat(256) },
      { key: "" },
      { key: "\ud800" },
      { value: undefined },
      { value: "x".repeat(196_607) },
      { ifVersion: -1 },
    ])
      expect(await set(fields), JSON.stringify(fields).slice(0, 80)).toEqual(failed("VALIDATION_ERROR"));
    expect((await set({ value: "x".repeat(196_606) })).success).toBe(true);
    expect(await atAda.call("STORE_UPDATE", { store: "s", key: "k", value: [] })).toEqual(
      failed("VALIDATION_ERROR"),
    );
    for (let index = 1; index < 100; index += 1) await set({ store: `s${index}` });
    expect(await set({ store: "one too many" })).toEqual(failed("CONFLICT"));
  });

  it("is read page by page: up to 1 MiB or a number of entries, and at least one (R37)", async () => {
    const { atAda } = await roomOfTwo();
    const keys = Array.from({ length: 12 }, (_, index) => `key ${index + 10}`);
    for (const key of keys) await atAda.call("STORE_SET", { store: "s", key, value: "x".repeat(180_000) });
    const sync = async (page: object) => {
      const { entries, seq, next } = (await atAda.call("STORE_SYNC", { store: "s", ...page })).data as {
        entries: object;
        seq: number;
        next?: string;
      };
      expect(seq).toBe(12);
      return [Object.keys(entries), next];
    };
    expect(await sync({})).toEqual([keys.slice(0, 5), "key 14"]);
    expect(await sync({ after: "key 14" })).toEqual([keys.slice(5, 10), "key 19"]);
    expect(await sync({ after: "key 19" })).toEqual([keys.slice(10), undefined]);
    expect(await sync({ after: "key 19", limit: 1 })).toEqual([["key 20"], "key 20"]);
    expect(await sync({ after: "key 20", limit: 1 })).toEqual([["key 21"], undefined]);
    expect(await sync({ after: "zzz" })).toEqual([[], undefined]);
    for (const page of [{ limit: 0 }, { limit: 10_001 }, { after: "" }])
      expect(await atAda.call("STORE_SYNC", { store: "s", ...page })).toEqual(failed("VALIDATION_ERROR"));
  });

  it("of 100,000 entries is read over a socket in pages of 10,000 (R37, R41)", async () => {
    const { room, atAda } = await roomOfTwo();
    await atAda.call("STORE_SET", { store: "s", key: "000000", value: 0 });
    await room.inside((_, { storage }) => {
      // Writes one by one would take a minute.
      storage.sql.exec(
        `WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 99999)
         INSERT INTO entries (store, key, value, version) SELECT 's', printf('%06d', n), n, 1 FROM counter`,
      );
    });
    const pages: number[] = [];
    let sum = 0;
    for (let after: string | undefined; pages.length === 0 || after !== undefined; ) {
      const { data } = await atAda.call("STORE_SYNC", { store: "s", after });
      const { entries, next } = data as { entries: Record<string, { value: number }>; next?: string };
      pages.push(Object.keys(entries).length);
      for (const { value } of Object.values(entries)) sum += value;
      after = next;
    }
    expect(pages).toEqual(Array(10).fill(10_000));
    expect(sum).toBe((99_999 * 100_000) / 2);
  });

  it("shares a quota with the room's other stores, which ROOM_STORES_MIB sets (R41)", async () => {
    expect(roomLimits({}).storeBytes).toBe(1024 * 1024 * 1024);
    for (const wrong of ["0", "-1", "1.5", "1 GiB"])
      expect(() => roomLimits({ ROOM_STORES_MIB: wrong })).toThrow(
        "The setting ROOM_STORES_MIB must be a whole number from 1 to 999999999; remove it to use 1024",
      );
    const { room, atAda } = await roomOfTwo();
    const value = "x".repeat(190_000);
    for (let key = 0; key < 5; key += 1) await atAda.call("STORE_SET", { store: "s", key: `${key}`, value });
    const set = (mib: string) =>
      room.inside((_, state) => {
        const object = new RoomObject(state, { ...env, ROOM_STORES_MIB: mib });
        const data = { store: "t", key: "k", value };
        return object.call(
          room.accountId,
          JSON.stringify({ type: "STORE_SET", requestId: crypto.randomUUID(), data }),
        );
      });
    expect(await set("1")).toMatch(/"FORBIDDEN".*of 1048576 bytes are in use/);
    expect(await set("2")).toContain('"success":true');
  });

  it("and all stores of the room are bounded; what makes them smaller is accepted (R41)", () =>
    withStorage(({ storage }) => {
      const stores = openStores({ storage, limits: limits({ storeBytes: 1_000 }) }).stores;
      const set = (key: string, bytes: number, store = "s") =>
        stores.apply({ type: "STORE_SET", store, key, value: "x".repeat(bytes - 2 - key.length) }, null);
      set("a", 900);
      const quota = /^The quota store_bytes_per_room is exceeded: 900 of 1000 bytes are in use, .* 101 more/;
      expect(() => set("b", 101, "t")).toThrow(quota);
      set("b", 100, "t");
      set("b", 99, "t");
      expect(storage.entries.totals()).toEqual({ stores: 2, bytes: 999 });
      storage.clear();
      storage.entries.writeSize("s", { entries: 100_000, bytes: 256 * 1024 * 1024 });
      const { changes, stores: limited } = openStores({ storage, limits: limits({ storeBytes: 1e12 }) });
      changes.append("storeChanged", () => ({}), { store: "s", key: "k", value: "1" });
      const write = (key: string, value: number) =>
        limited.apply({ type: "STORE_SET", store: "s", key, value }, null);
      expect(() => write("new", 1)).toThrow("at most 100000 entries");
      expect(() => write("k", 12)).toThrow("at most 268435456 bytes");
      write("k", 2);
      limited.apply({ type: "STORE_DELETE", store: "s", key: "k" }, null);
      expect(storage.entries.size("s")).toEqual({ entries: 99_999, bytes: 256 * 1024 * 1024 - 2 });
    }));
});

describe("a client that reconnects", () => {
  it("receives what it missed, across hibernation (R28, R33, R35)", async () => {
    const { room, ben, atAda, atBen } = await roomOfTwo();
    const set = (value: number) => atAda.call("STORE_SET", { store: "s", key: `${value}`, value });
    await set(1);
    atBen.close();
    await set(2);
    await room.hibernate();
    await set(3);
    const back = await room.join(ben, "editor", { since: 1 });
    expect(back.joined).toMatchObject({
      seq: 3,
      changes: [
        { seq: 2, event: "storeChanged", data: { value: 2, version: 2 } },
        { seq: 3, event: "storeChanged", data: { value: 3, version: 3 } },
      ],
    });
    expect(back.joined).not.toHaveProperty("reset");
    expect((await room.join(ben, "editor", { since: 3 })).joined.changes).toEqual([]);
    expect((await room.join(ben, "editor", { since: 4 })).joined.reset).toBe(true);
  });

  it("is reset when the room's storage has lost the epoch in which it was there (R79)", async () => {
    const { room, ben, atAda, atBen } = await roomOfTwo();
    const { epoch } = atBen.joined;
    const set = (value: number) => atAda.call("STORE_SET", { store: "s", key: "k", value });
    await set(1);
    await room.hibernate();
    await set(2);
    atBen.close();
    const back = await room.join(ben, "editor", { since: 1, epoch });
    expect(back.joined).toMatchObject({ epoch, seq: 2, changes: [{ seq: 2 }] });
    await room.crash();
    const restarted = await room.join(ben, "editor", { since: 2, epoch });
    expect(restarted.joined).toMatchObject({ seq: 2, changes: [] });
    expect(restarted.joined.epoch).not.toBe(epoch);
    const unknown = await room.join(ben, "editor", { since: 2, epoch: "begun after the backup" });
    expect(unknown.joined).toMatchObject({ epoch: restarted.joined.epoch, reset: true });
    expect(unknown.joined).not.toHaveProperty("changes");
  });

  it("receives of each entry the latest change it missed, however much came before (R33)", async () => {
    const { room, ben, atAda } = await roomOfTwo();
    const set = (key: string, value: unknown) => atAda.call("STORE_SET", { store: "s", key, value });
    await set("before", 1);
    for (let step = 1; step <= 40; step += 1) await set("stroke", `${step}`.padEnd(60_000));
    await set("after", 1);
    await atAda.call("STORE_DELETE", { store: "s", key: "before" });
    const { joined } = await room.join(ben, "editor", { since: 0 });
    expect(joined.changes).toMatchObject([
      { seq: 41, data: { key: "stroke", action: "set", value: "40".padEnd(60_000), version: 41 } },
      { seq: 42, data: { key: "after", value: 1 } },
      { seq: 43, data: { key: "before", action: "delete", value: null } },
    ]);
  });

  it("is reset when what it missed is no longer kept, or is too much (R33)", async () => {
    const { room, ben, atAda } = await roomOfTwo();
    const set = (key: string, value: unknown) => atAda.call("STORE_SET", { store: "s", key, value });
    await set("a", 1);
    await set("b", 2);
    room.now += 24 * 3_600_000 + 1;
    await room.inside(() => undefined);
    await set("c", 3);
    const { joined } = await room.join(ben, "editor", { since: 1 });
    expect([joined.reset, "changes" in joined]).toEqual([true, false]);
    expect((await room.join(ben, "editor", { since: 2 })).joined.changes).toHaveLength(1);
    for (let count = 0; count < 18; count += 1) await set(`${count}`, "x".repeat(60_000));
    expect((await room.join(ben, "editor", { since: 3 })).joined.reset).toBe(true);
  });

  it("can resend what was not answered although others have written much since (R34)", async () => {
    const { room, ada, ben, atAda, atBen } = await roomOfTwo();
    const comment = await atAda.call("COMMENT_CREATE", { text: "Hello" }, "mine");
    for (let batch = 0; batch < 21; batch += 1) {
      const operations = Array.from({ length: 500 }, (_, index) => {
        return { type: "STORE_SET", store: "s", key: `${index}`, value: batch };
      });
      expect((await atBen.call("STORE_BATCH", { operations }, `batch ${batch}`)).success).toBe(true);
    }
    const again = await room.join(ada);
    expect(await again.call("COMMENT_CREATE", { text: "Hello" }, "mine")).toEqual(comment);
    expect((await again.call("COMMENT_LIST")).data).toMatchObject({ total: 1 });
    room.now += 24 * 3_600_000;
    const [late, next] = [await room.join(ada), await room.join(ben)];
    expect(await late.call("COMMENT_CREATE", { text: "Hello" }, "mine")).toEqual(comment);
    room.now += 1;
    await room.inside(() => undefined);
    await next.call("STORE_SET", { store: "s", key: "k", value: 1 }, "a day later");
    expect(await late.call("COMMENT_CREATE", { text: "Hello" }, "mine")).not.toEqual(comment);
  });

  it("can resend what was not answered, which is done once (R34)", async () => {
    const { room, ada, ben, atAda, atBen } = await roomOfTwo();
    const data = { store: "s", key: "k", value: 1 };
    const first = await atAda.call("STORE_SET", data, "id-1");
    atAda.close();
    await room.hibernate();
    const again = await room.join(ada);
    expect(await again.call("STORE_SET", data, "id-1")).toEqual(first);
    expect((await again.call("STORE_SET", { ...data, value: 2 }, "id-1")).data).toEqual({
      version: 2,
      seq: 2,
    });
    expect((await atBen.call("STORE_SET", data, "id-1")).data).toEqual({ version: 3, seq: 3 });
    const comment = await again.call("COMMENT_CREATE", { text: "Hello" }, "id-2");
    expect(await again.call("COMMENT_CREATE", { text: "Hello" }, "id-2")).toEqual(comment);
    expect((await again.call("COMMENT_LIST")).data).toMatchObject({ total: 1 });
    expect(ben.user.id).not.toBe(ada.user.id);
  });
});

it("a viewer may read, follow and show presence, but change nothing (R36)", async () => {
  const { room, ada, ben } = await roomOfTwo();
  const viewer = await room.join(ben, "viewer");
  const at = { store: "s", key: "k" };
  for (const [type, data] of [
    ["BROADCAST", { event: "hello" }],
    ["STORE_SET", { ...at, value: 1 }],
    ["STORE_UPDATE", { ...at, value: {} }],
    ["STORE_DELETE", at],
    ["STORE_BATCH", { operations: [{ type: "STORE_DELETE", ...at }] }],
    ["COMMENT_CREATE", { text: "Hello" }],
    ["COMMENT_UPDATE", { commentId: "x", text: "Hello" }],
    ["COMMENT_DELETE", { commentId: "x" }],
    ["COMMENT_RESOLVE", { commentId: "x" }],
    ["COMMENT_REACT", { commentId: "x", reaction: "👍" }],
  ] as const)
    expect(await viewer.call(type, data), type).toEqual(failed("FORBIDDEN"));
  // Whom it mentions is not even looked up.
  await whileTableFails("users", async () => {
    for (const data of [{ text: "Hello" }, { text: "Hello", commentId: "x" }])
      expect(
        await viewer.call("commentId" in data ? "COMMENT_UPDATE" : "COMMENT_CREATE", {
          ...data,
          mentions: ["no one"],
        }),
      ).toEqual(failed("FORBIDDEN"));
  });
  for (const [type, data] of [
    ["STORE_SYNC", { store: "s" }],
    ["STORE_GET", at],
    ["COMMENT_LIST", {}],
    ["PRESENCE_UPDATE", { state: {} }],
    ["PRESENCE_SUBSCRIBE", { target: "*", on: true }],
    ["USER_FOLLOW", { userId: ada.user.id }],
    ["USER_UNFOLLOW", { userId: ada.user.id }],
    ["ROOM_GET", {}],
    ["USERS_GET", {}],
  ] as const)
    expect((await viewer.call(type, data)).success, type).toBe(true);
  viewer.sendRaw(`{"type":"BROADCAST","data":{"event":"hello"}}`);
  expect(await viewer.nextResponse()).toEqual(failed("FORBIDDEN"));
});

it("a request that fails unexpectedly has the error INTERNAL_ERROR and changes nothing (R35)", async () => {
  const { room, atAda, atBen } = await roomOfTwo();
  await atAda.call("STORE_SET", { store: "s", key: "k", value: 1 });
  await atBen.takeEvents();
  await room.inside((_, { storage }) => storage.sql.exec("ALTER TABLE journal RENAME TO away").toArray());
  expect(await atAda.call("STORE_SET", { store: "s", key: "k", value: 2 })).toEqual(
    failed("INTERNAL_ERROR", "Server"),
  );
  expectLogged("no such table: journal");
  await room.inside((_, { storage }) => storage.sql.exec("ALTER TABLE away RENAME TO journal").toArray());
  expect((await atAda.call("STORE_SYNC", { store: "s" })).data).toMatchObject({ seq: 1 });
  expect(await atBen.takeEvents()).toEqual([]);
});
