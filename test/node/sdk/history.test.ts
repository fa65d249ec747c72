/** Undo and redo: one's own changes are taken back, and later changes of others are kept. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Write } from "../../../packages/sdk/client/stores/writes.ts";
import { sorted } from "./mirror.ts";
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

/** The visible value after undoing a change from `previous` to `result` while `current` is visible. */
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
    const reports: unknown[] = [];
    history.on("changed", (state) => reports.push(state));
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
    expect(reports).toEqual([
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
    await deliver();
    bo.set("b", 2);
    await deliver();
    const { history } = ada.client;
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

describe("a refused write", () => {
  it("leaves the history with its step, or with its part of the step", async () => {
    const [ada, , deliver] = await meet();
    const { history } = ada.client;
    const reports: unknown[] = [];
    history.on("changed", (state) => reports.push(state));
    ada.set("alone", 1, { ifVersion: 7 });
    await deliver();
    expect([history.canUndo, history.undo()]).toEqual([false, false]);
    history.transaction(() => {
      ada.set("a", 1);
      ada.set("b", 1, { ifVersion: 7 });
      ada.set("c", 1);
    });
    await deliver();
    expect({ ...ada.store.getAll() }).toEqual({ a: 1, c: 1 });
    ada.mirror.changes.length = 0;
    expect([history.undo(), ada.mirror.changes.map(({ key }) => key)]).toEqual([true, ["c", "a"]]);
    await deliver();
    ada.mirror.changes.length = 0;
    expect([history.redo(), ada.mirror.changes.map(({ key }) => key)]).toEqual([true, ["a", "c"]]);
    await deliver();
    expect({ ...ada.store.getAll() }).toEqual({ a: 1, c: 1 });
    void ada.store
      .batch([
        { action: "set", key: "d", value: 1 },
        { action: "set", key: "e", value: 1, ifVersion: 7 },
      ])
      .catch(() => {});
    ada.mirror.values.set("d", 1).set("e", 1);
    await deliver();
    expect([history.undo(), { ...ada.store.getAll() }, history.canUndo]).toEqual([true, {}, false]);
    expect(reports).toEqual([
      { canUndo: true, canRedo: false },
      { canUndo: false, canRedo: false },
      { canUndo: true, canRedo: false },
      { canUndo: false, canRedo: true },
      { canUndo: true, canRedo: false },
      { canUndo: false, canRedo: true },
    ]);
    await deliver();
    expect(ada.mirror.isTrue).toBe(true);
  });

  it("leaves no value of its own to the steps after it", async () => {
    const [ada, , deliver] = await meet();
    const { history } = ada.client;
    ada.set("a", { x: 0, y: 0 });
    ada.set("b", 0);
    await deliver();
    ada.update("a", { x: 1 }, { ifVersion: 7 });
    ada.update("a", { y: 1 });
    ada.set("a", { x: 2, y: 1 });
    ada.set("b", 1, { ifVersion: 7 });
    ada.set("b", 2);
    await deliver();
    expect(ada.store.getAll()).toEqual({ a: { x: 2, y: 1 }, b: 2 });
    const states = [0, 1, 2].map(() => history.undo() && { ...ada.store.getAll() });
    expect(states).toEqual([
      { a: { x: 2, y: 1 }, b: 0 },
      { a: { x: 0, y: 1 }, b: 0 },
      { a: { x: 0, y: 0 }, b: 0 },
    ]);
    await deliver();
    expect(ada.mirror.isTrue).toBe(true);
  });

  it("leaves the history with what undid it, also when its writer gives it up", async () => {
    const [ada, bo, deliver] = await meet();
    const { history } = ada.client;
    ada.set("a", 1, { ifVersion: 7 });
    await settle(); // the write is on its way
    expect([history.undo(), history.canRedo]).toEqual([true, true]);
    await deliver();
    expect([history.canRedo, history.redo(), { ...bo.store.getAll() }]).toEqual([false, false, {}]);
    const given = new AbortController();
    ada.set("a", { x: 1 });
    ada.set("a", { x: 2 }, { signal: given.signal });
    ada.update("a", { y: 3 });
    given.abort();
    await deliver();
    expect(ada.store.getAll()).toEqual({ a: { x: 1, y: 3 } });
    expect([history.undo(), { ...ada.store.getAll() }]).toEqual([true, { a: { x: 1 } }]);
    expect([history.undo(), { ...ada.store.getAll() }]).toEqual([true, {}]);
    await deliver();
    expect({ ...bo.store.getAll() }).toEqual({});
  });

  const write = fc.record({
    kind: fc.constantFrom(
      "object" as const,
      "number" as const,
      "x" as const,
      "y" as const,
      "delete" as const,
    ),
    key,
    isRefused: fc.boolean(),
  });
  type Arbitrary<Of> = Of extends fc.Arbitrary<infer Type> ? Type : never;
  type RandomWrite = Arbitrary<typeof write>;
  const writing = fc.record({
    type: fc.constantFrom("one" as const, "batch" as const, "transaction" as const),
    writes: fc.uniqueArray(write, { selector: (each) => each.key, minLength: 1, maxLength: 3 }),
  });
  const delivering = fc.record({
    type: fc.constantFrom("up" as const, "down" as const, "pause" as const, "resume" as const),
  });
  const moving = fc.record({ type: fc.constantFrom("undo" as const, "redo" as const) });
  type RandomAction = Arbitrary<typeof writing | typeof delivering | typeof moving>;

  type RoomWrite = Write<unknown, Record<string, unknown>>;
  interface Writing {
    readonly type: "one" | "batch" | "transaction";
    readonly writes: readonly RoomWrite[];
  }
  type Action = Writing | { readonly type: "up" | "down" | "pause" | "resume" | "undo" | "redo" };

  /** Gives each write a number of its own, and a refused one a version that no entry has. */
  function numbered(actions: readonly RandomAction[]): Action[] {
    let last = 0;
    const toWrite = ({ kind, key: name, isRefused }: RandomWrite): RoomWrite => {
      last += 1;
      const write = { key: name, ...(isRefused && { ifVersion: 1e9 }) };
      if (kind === "delete") return { ...write, action: "delete" };
      if (kind === "x" || kind === "y") return { ...write, action: "update", value: { [kind]: last } };
      return { ...write, action: "set", value: kind === "number" ? last : { x: last, y: last } };
    };
    return actions.map((each) => ("writes" in each ? { ...each, writes: each.writes.map(toWrite) } : each));
  }

  /** Carries out those that change something, and notes the keys of those that the room accepts. */
  function carryOut(ada: ModelClient, { type, writes }: Writing, accepted: Set<string>): void {
    const isChange = ({ action, key: name }: RoomWrite): boolean => {
      const shown = ada.store.get(name);
      return action === "set" || (action === "delete" ? shown !== undefined : typeof shown !== "number");
    };
    const changes = writes.filter(isChange);
    const note = (each: readonly RoomWrite[], written: Promise<unknown>) =>
      written.then(
        () => each.map(({ key: name }) => accepted.add(name)),
        () => {},
      );
    const one = (each: RoomWrite) => {
      if (each.action === "set") void note([each], ada.store.set(each));
      else if (each.action === "update") void note([each], ada.store.update(each));
      else void note([each], ada.store.delete(each));
    };
    if (type === "one") changes.forEach(one);
    else if (type === "transaction") ada.client.history.transaction(() => changes.forEach(one));
    else if (changes.length > 0) void note(changes, ada.store.batch(changes));
  }

  async function play(ada: ModelClient, actions: readonly Action[]): Promise<Set<string>> {
    const accepted = new Set<string>();
    for (const each of actions) {
      if ("writes" in each) carryOut(ada, each, accepted);
      else if (each.type === "up") ada.socket?.deliverUp();
      else if (each.type === "down") ada.socket?.deliverDown();
      else ada.client.history[each.type]();
      await settle();
    }
    ada.client.history.resume();
    await ada.deliverAll();
    return accepted;
  }

  async function first(): Promise<[ModelRoom, ModelClient]> {
    const room = new ModelRoom();
    for (const name of ["a", "b"]) room.write("notes", name, { x: 0, y: 0 });
    room.write("notes", "c", 0);
    const ada = new ModelClient(room, "ada");
    void ada.client.join();
    await ada.deliverAll();
    ada.sync();
    await ada.deliverAll();
    return [room, ada];
  }

  it("is never undone: undo leads back to the first state, and redo to the last one", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(writing, delivering), { maxLength: 25 }), async (actions) => {
        const [room, ada] = await first();
        const { history } = ada.client;
        const initial = sorted(room.entries("notes"));
        await play(ada, numbered(actions));
        const last = sorted(room.entries("notes"));
        let steps = 0;
        while (history.canUndo) if (history.undo()) steps += 1;
        await ada.deliverAll();
        expect(sorted(room.entries("notes"))).toEqual(initial);
        for (; steps > 0; steps -= 1) history.redo();
        await ada.deliverAll();
        expect(sorted(room.entries("notes"))).toEqual(last);
      }),
      { numRuns: 100 },
    );
  });

  it("is nothing that undo or redo touches, at any time", async () => {
    const actions = fc.array(fc.oneof(writing, delivering, moving), { maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(actions, async (random) => {
        const [room, ada] = await first();
        const { history } = ada.client;
        room.applied.length = 0;
        const accepted = await play(ada, numbered(random));
        for (const { key: name } of room.applied.splice(0)) accepted.add(String(name)); // writes of undo and redo
        while (history.undo() || history.canUndo);
        while (history.redo() || history.canRedo);
        await ada.deliverAll();
        for (const { key: name } of room.applied) expect(accepted).toContain(name);
      }),
      { numRuns: 100 },
    );
  });
});

// State of a client after joins that could not report everything it had missed.

async function joined(room: ModelRoom): Promise<ModelClient> {
  const client = new ModelClient(room, "ada");
  void client.client.join();
  client.sync();
  await client.deliverAll();
  return client;
}

/** Cuts the connection, and opens another one, to a room that has forgotten the changes of the meantime. */
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

// A reset replaces the store by the room's entries; unanswered writes must not vanish meanwhile.
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

  const finding = users.find({ search: "user 14" });
  await client.deliverAll();
  const similar = [14, ...Array.from({ length: 19 }, (_, i) => (i < 10 ? 140 + i : 1_390 + i))];
  expect((await finding).map(({ name }) => name)).toEqual(similar.map((number) => `user ${number}`));
  const oldest = users.find({ search: "user 2499" });
  await client.deliverAll();
  expect(await oldest).toEqual([users.get({ userId: "user 2499" })]);
  expect([users.all.size, events]).toEqual([2_151, []]);
  const abandoned = new AbortController();
  const never = users.find({ search: "user 2498", signal: abandoned.signal });
  abandoned.abort();
  await expect(never).rejects.toBe(abandoned.signal.reason);
  await client.deliverAll();
  expect(users.get({ userId: "user 2498" })).toBe(null);

  // Changes missed in a reset are found page by page.
  const deleted = ["user 3", "user 1500", "user 2400"];
  const left = room.users.filter(({ id }) => !deleted.includes(id));
  room.users = [{ ...user("new"), created_at: created(2_501) }, ...left];
  await reset(room, client);
  await client.deliverAll();
  expect(events.splice(0)).toEqual(["userDeleted user 3", "userCreated new"]);
  expect([users.all.size, users.hasMore]).toEqual([2_151, true]);
  expect(await loadMore()).toEqual([2_150, true]);
  expect(events.splice(0)).toEqual(["userDeleted user 1500"]);
  expect(await loadMore()).toEqual([2_498, false]);
  expect(await loadMore()).toEqual([2_498, false]);
  expect(events).toEqual([]);
  client.client.disconnect();
});
