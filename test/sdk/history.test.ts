/** Undo and redo: one's own changes are taken back, and what others did since is kept. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ModelClient, settle } from "./model/model-client.ts";
import { ModelRoom } from "./model/model-room.ts";
import { fields, key, value } from "./model/scenario.ts";

async function meet(): Promise<[ModelClient, ModelClient, () => Promise<void>]> {
  const room = new ModelRoom();
  const [ada, bo] = [new ModelClient(room, "ada"), new ModelClient(room, "bo")];
  const deliver = async () => {
    for (const client of [ada, bo, ada, bo]) await client.deliverAll();
  };
  for (const client of [ada, bo]) void client.client.join();
  await deliver();
  for (const client of [ada, bo]) client.sync();
  await deliver();
  return [ada, bo, deliver];
}

/** What is visible after undoing a change from `previous` to `result` while `current` is visible. */
async function restored(previous: unknown, result: unknown, current: unknown): Promise<unknown> {
  const [ada, bo, deliver] = await meet();
  const write = async (client: ModelClient, value: unknown) => {
    if (value === undefined) client.delete("a");
    else client.set("a", value);
    await deliver();
  };
  await write(ada, previous);
  ada.client.history.clear();
  await write(ada, result);
  await write(bo, current);
  ada.client.history.undo();
  return ada.store.get("a");
}

describe("a change", () => {
  it.each([
    ["keeps fields that others added", { x: 1 }, { x: 2 }, { x: 2, z: 3 }, { x: 1, z: 3 }],
    ["removes a field that it added", { x: 1 }, { x: 1, y: 2 }, { x: 5, y: 2 }, { x: 5 }],
    ["restores a field that it removed", { x: 1, y: 2 }, { x: 1 }, { x: 5 }, { x: 5, y: 2 }],
    ["deletes what it created", undefined, { x: 1 }, { x: 1 }, undefined],
    ["keeps what it created if others changed it", undefined, { x: 1 }, { x: 1, y: 1 }, { x: 1, y: 1 }],
    ["sets what it deleted again", { x: 1 }, undefined, undefined, { x: 1 }],
    ["keeps what others created since", { x: 1 }, undefined, { x: 2 }, { x: 2 }],
    ["keeps that others deleted it", { x: 1 }, { x: 2 }, undefined, undefined],
    ["restores a value that is no object", 1, 2, 2, 1],
    ["keeps the value of others that is no object", [1], [2], [3], [3]],
    ["restores null", null, { x: 1 }, { x: 1 }, null],
  ])("%s", async (_title, previous, result, current, expected) => {
    expect(await restored(previous, result, current)).toEqual(expected);
  });

  it("is undone field by field, where its result is still visible, and nowhere else", async () => {
    await fc.assert(
      fc.asyncProperty(fields, fields, fields, async (previous, result, current) => {
        const after = Object(await restored(previous, result, current));
        for (const name of ["x", "y"] as const) {
          const isMine = result[name] === current[name] && previous[name] !== result[name];
          expect(after[name]).toBe(isMine ? previous[name] : current[name]);
        }
      }),
    );
  });

  it("may be of a field with any name", async () => {
    const [before, after] = ['{"__proto__":1,"toString":1}', '{"__proto__":2,"toString":2}'];
    const shown = await restored(JSON.parse(before), JSON.parse(after), JSON.parse(after));
    expect(JSON.stringify(shown)).toBe(before);
  });
});

describe("the history", () => {
  it("undoes and redoes call by call, a batch as one step, and reports it as a change", async () => {
    const [ada, bo, deliver] = await meet();
    const { history } = ada.client;
    const told: unknown[] = [];
    history.on("changed", (state) => told.push(state));
    ada.set("a", { x: 1 });
    ada.update("a", { x: 2 });
    void ada.store.batch([
      { action: "set", key: "b", value: 1 },
      { action: "delete", key: "a" },
    ]);
    ada.mirror.values.set("b", 1).delete("a");
    await deliver();
    expect([history.undo(), { ...ada.store.getAll() }]).toEqual([true, { a: { x: 2 } }]);
    expect(ada.mirror.changes.map(({ key, value, reason, userId }) => [key, value, reason, userId])).toEqual([
      ["a", { x: 2 }, "history", "ada"],
      ["b", undefined, "history", "ada"],
    ]);
    expect([history.undo(), ada.store.get("a"), history.canUndo]).toEqual([true, { x: 1 }, true]);
    await deliver();
    expect(bo.store.getAll()).toEqual({ a: { x: 1 } });
    expect([history.redo(), history.redo(), { ...ada.store.getAll() }]).toEqual([true, true, { b: 1 }]);
    expect([history.redo(), history.canRedo]).toEqual([false, false]);
    history.undo();
    ada.set("c", 1);
    expect([history.redo(), history.canRedo, history.canUndo]).toEqual([false, false, true]);
    history.clear();
    expect([history.undo(), history.canUndo]).toEqual([false, false]);
    expect(told).toEqual([
      { canUndo: true, canRedo: false },
      { canUndo: true, canRedo: true },
      { canUndo: true, canRedo: false },
      { canUndo: true, canRedo: true },
      { canUndo: true, canRedo: false },
      { canUndo: false, canRedo: false },
    ]);
    await deliver();
    expect([ada.mirror.isTrue, bo.mirror.isTrue]).toEqual([true, true]);
  });

  it("makes one step of what is written between pause and resume, around what others write", async () => {
    const [ada, bo, deliver] = await meet();
    const { history } = ada.client;
    ada.set("a", { x: 0 });
    await deliver();
    history.pause();
    for (let x = 1; x <= 5; x += 1) {
      ada.update("a", { x });
      bo.update("a", { y: x });
      await deliver();
    }
    history.resume();
    ada.set("b", 1);
    expect([history.undo(), history.undo(), ada.store.get("a")]).toEqual([true, true, { x: 0, y: 5 }]);
    history.redo();
    expect(ada.store.get("a")).toEqual({ x: 5, y: 5 });
  });

  it("returns false for a step of which nothing is left, and takes no older one back", async () => {
    const [ada, bo, deliver] = await meet();
    ada.set("a", 1);
    ada.set("b", 1);
    ada.set("c", 1, { ifVersion: 7 });
    await deliver();
    bo.set("b", 2);
    await deliver();
    const { history } = ada.client;
    expect([history.undo(), { ...ada.store.getAll() }]).toEqual([false, { a: 1, b: 2 }]); // refused by the room
    expect([history.undo(), { ...ada.store.getAll() }]).toEqual([false, { a: 1, b: 2 }]); // replaced by Bo
    expect([history.undo(), { ...ada.store.getAll() }]).toEqual([true, { b: 2 }]);
    expect([history.undo(), history.canUndo]).toEqual([false, false]);
  });

  it("makes one step of a transaction, also of one that throws, and of a transaction in another", async () => {
    const [ada, , deliver] = await meet();
    const { history } = ada.client;
    ada.set("a", 1);
    const result = history.transaction(() => {
      ada.set("a", 2);
      history.transaction(() => ada.set("b", 2));
      ada.set("c", 2);
      return "done";
    });
    const fails = () =>
      history.transaction(() => {
        ada.set("a", 3);
        ada.set("b", 3);
        throw new Error("failed");
      });
    expect([result, fails]).toEqual(["done", expect.any(Function)]);
    expect(fails).toThrow("failed");
    ada.set("c", 4);
    await deliver();
    const states = [0, 1, 2].map(() => history.undo() && { ...ada.store.getAll() });
    expect(states).toEqual([{ a: 3, b: 3, c: 2 }, { a: 2, b: 2, c: 2 }, { a: 1 }]);
    await deliver();
  });

  it("leads back to the first state and forth to the last one, and never touches the fields of others", async () => {
    const own = fc.record({ type: fc.constant("own" as const), key, x: fc.nat(3) });
    const other = fc.record({ type: fc.constant("other" as const), key, y: fc.nat(3) });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(own, other), { maxLength: 15 }), async (writes) => {
        const [ada, bo, deliver] = await meet();
        const all = { x: 0, y: 0 };
        for (const each of ["a", "b", "c", "d", "e"]) bo.set(each, all);
        await deliver();
        for (const each of writes) {
          if (each.type === "own") ada.update(each.key, { x: each.x });
          else bo.update(each.key, { y: each.y });
          await deliver();
        }
        const state = () => Object.entries(ada.store.getAll()).map(([name, each]) => [name, Object(each)]);
        const last = structuredClone(state());
        while (ada.client.history.undo());
        await deliver();
        expect(state()).toEqual(last.map(([name, { y }]) => [name, { x: 0, y }]));
        while (ada.client.history.redo());
        await deliver();
        expect(state()).toEqual(last);
        expect([ada.mirror.isTrue, bo.mirror.isTrue]).toEqual([true, true]);
      }),
      { numRuns: 30 },
    );
  });

  it("restores single values in any order of one's own writes", async () => {
    const write = fc.record({ key, value: fc.option(value, { nil: undefined }) });
    await fc.assert(
      fc.asyncProperty(fc.array(write, { maxLength: 10 }), async (writes) => {
        const [ada, , deliver] = await meet();
        for (const { key: name, value: written } of writes) {
          if (written === undefined) ada.delete(name);
          else ada.set(name, written);
        }
        await deliver();
        const last = { ...ada.store.getAll() };
        while (ada.client.history.undo());
        await deliver();
        expect({ ...ada.store.getAll() }).toEqual({});
        while (ada.client.history.redo());
        await deliver();
        expect({ ...ada.store.getAll() }).toEqual(last);
      }),
      { numRuns: 30 },
    );
  });
});

// What a client shows after joins that could not tell it everything that it had missed.

async function joined(room: ModelRoom): Promise<ModelClient> {
  const client = new ModelClient(room, "ada");
  void client.client.join();
  client.sync();
  await client.deliverAll();
  return client;
}

/** Cuts the connection, and opens another one, to a room that has forgotten what changed meanwhile. */
async function reset(room: ModelRoom, client: ModelClient): Promise<void> {
  client.socket?.cut();
  room.write("notes", "theirs", 1);
  room.write("notes", "theirs", 2);
  room.forgetChanges();
  client.clock.advance(10_000);
  await settle();
}

/** A user as the database has it. */
const user = (id: string) => ({
  id,
  room_id: "room",
  name: id,
  created_at: "2026-01-01T00:00:00.000Z",
  role: "editor" as const,
  status: "offline" as const,
});

// A reset replaces the store by the room's entries; what the room had not answered must not vanish meanwhile.
it("a client shows its own unanswered writes throughout a reset (R34)", async () => {
  const room = new ModelRoom();
  room.write("notes", "a", "old");
  room.write("notes", "b", "old");
  const client = await joined(room);
  client.set("a", "sent before the cut");
  await settle();
  client.clock.advance(1_000);
  client.delete("b");
  const shown = () => ["a", "b"].map((key) => client.store.get(key));
  await reset(room, client);
  client.set("c", "written meanwhile");
  for (let idle = 0; idle < 5 || client.isLoading; ) {
    expect(shown()).toEqual(["sent before the cut", undefined]);
    expect(client.store.get("c")).toBe("written meanwhile");
    const isBusy = client.socket?.deliverUp() || client.deliverDown();
    idle = isBusy ? 0 : idle + 1;
    await settle();
    client.clock.advance(100);
  }
  expect(client.store.getAll()).toEqual({ a: "sent before the cut", c: "written meanwhile", theirs: 2 });
  expect(room.entries("notes")).toEqual(client.store.getAll());
  client.client.disconnect();
});

it("what was deleted meanwhile is gone after a reset (R33)", async () => {
  const room = new ModelRoom();
  for (const key of ["kept", "gone"]) room.write("notes", key, 1);
  const [client, other] = [await joined(room), await joined(room)];
  other.delete("gone");
  client.socket?.cut();
  await other.deliverAll();
  await reset(room, client);
  await client.deliverAll();
  expect(["kept", "gone"].map((key) => client.store.get(key))).toEqual([1, undefined]);
});

it("a client knows the follows that the answer to its join has no room for (R11)", async () => {
  const room = new ModelRoom();
  room.users = ["ada", "bo", "cleo"].map(user);
  room.follows = { bo: ["ada", "cleo"], cleo: ["bo"] };
  const client = await joined(room);
  const { users } = client.client;
  const follows = () => users.getAll().map(({ following, followers }) => [following, followers]);
  expect(follows()).toEqual([
    [[], ["bo"]],
    [["ada", "cleo"], ["cleo"]],
    [["bo"], ["bo"]],
  ]);
  room.follows = { bo: ["cleo"] };
  await reset(room, client);
  await client.deliverAll();
  expect(follows()).toEqual([
    [[], []],
    [["cleo"], []],
    [[], ["bo"]],
  ]);
  client.client.disconnect();
});

it("a client loads the newest users of a room with a long history, and older ones on demand (R56)", async () => {
  const room = new ModelRoom();
  const created = (day: number) => new Date(Date.UTC(2026, 0, 1) + day * 86_400_000).toISOString();
  room.users = Array.from({ length: 2_500 }, (_, i) => ({
    ...user(`user ${i}`),
    created_at: created(2_500 - i),
  }));
  const client = await joined(room);
  const { users } = client.client;
  const loadMore = async () => {
    void users.loadMore();
    await client.deliverAll();
    return [users.all.size, users.hasMore];
  };
  const events: string[] = [];
  for (const event of ["userCreated", "userDeleted", "userUpdated"] as const)
    users.on(event, ({ id }) => events.push(`${event} ${id}`));
  expect([users.all.size, users.hasMore]).toEqual([1_000, true]);
  const newest = users.get({ userId: "user 0" });
  expect(await loadMore()).toEqual([2_000, true]);
  // A page concerns its own users: the others are the objects that components have rendered.
  expect(users.get({ userId: "user 0" })).toBe(newest);
  expect(users.get({ userId: "user 1999" })?.name).toBe("user 1999");
  expect(events).toEqual([]);

  const asked = Array.from({ length: 150 }, (_, i) => `user ${2_000 + i}`);
  const loads = Promise.all(
    [...asked, "user 1", "someone else"].map((userId) => users.load({ userIds: [userId] })),
  );
  expect(users.isMissing({ userId: "someone else" })).toBe(false);
  await client.deliverAll();
  await client.deliverAll();
  await loads;
  expect(asked.filter((userId) => users.get({ userId })?.name !== userId)).toEqual([]);
  expect(users.isMissing({ userId: "someone else" })).toBe(true);
  expect(room.lookUps).toEqual([100, 51]);
  await users.load({ userIds: [...asked, "someone else"] });
  expect([room.lookUps.length, users.all.size, users.hasMore, events]).toEqual([2, 2_150, true, []]);

  // What a reset has missed is found out page by page.
  const deleted = ["user 3", "user 1500", "user 2400"];
  const left = room.users.filter(({ id }) => !deleted.includes(id));
  room.users = [{ ...user("new"), created_at: created(2_501) }, ...left];
  await reset(room, client);
  await client.deliverAll();
  expect(events.splice(0)).toEqual(["userDeleted user 3", "userCreated new"]);
  expect([users.all.size, users.hasMore]).toEqual([2_150, true]);
  expect(await loadMore()).toEqual([2_149, true]);
  expect(events.splice(0)).toEqual(["userDeleted user 1500"]);
  expect(await loadMore()).toEqual([2_498, false]);
  expect(await loadMore()).toEqual([2_498, false]);
  expect(events).toEqual([]);
  client.client.disconnect();
});
