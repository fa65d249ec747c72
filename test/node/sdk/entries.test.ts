/** The entries that a store shows: confirmed ones with pending writes on top; and the validation by its shape. */

import type { StoreChange } from "atrium/client";
import { describe, expect, it } from "vitest";
import { Entries, type Operation } from "../../../packages/sdk/client/stores/entries.ts";
import { defineStores, fitWrite } from "../../../packages/sdk/client/stores/writes.ts";
import { ModelClient, settle } from "./model/model-client.ts";
import { ModelRoom } from "./model/model-room.ts";

const set = (key: string, value: unknown): Operation => ({ action: "set", key, value });
const update = (key: string, value: unknown): Operation => ({ action: "update", key, value });
const remove = (key: string): Operation => ({ action: "delete", key, value: null });
const shown = (entries: Entries) => ({ ...entries.getAll() });

describe("entries", () => {
  it("show a write at once, and the confirmed entry again when it is removed", () => {
    const entries = new Entries();
    entries.confirm("a", { value: { x: 1, y: 1 }, version: 1 });
    const writes = [update("a", { y: 2 }), set("b", 1), remove("a"), set("a", 7)];
    const states = writes.map((write) => [entries.add(write), shown(entries)]);
    expect(states).toEqual([
      [{ key: "a", previous: { x: 1, y: 1 }, value: { x: 1, y: 2 } }, { a: { x: 1, y: 2 } }],
      [
        { key: "b", previous: undefined, value: 1 },
        { a: { x: 1, y: 2 }, b: 1 },
      ],
      [{ key: "a", previous: { x: 1, y: 2 }, value: undefined }, { b: 1 }],
      [
        { key: "a", previous: undefined, value: 7 },
        { a: 7, b: 1 },
      ],
    ]);
    const [first, second, third, fourth] = writes.map((write) => () => entries.remove(write));
    expect([third?.(), fourth?.()]).toEqual([null, { key: "a", previous: 7, value: { x: 1, y: 2 } }]);
    expect([first?.(), second?.()]).toMatchObject([{ value: { x: 1, y: 1 } }, { value: undefined }]);
    expect(shown(entries)).toEqual({ a: { x: 1, y: 1 } });
    expect([entries.getConfirmed("a").version, entries.getConfirmed("b").version]).toEqual([1, 0]);
  });

  it("apply changes by others beneath a pending write, and ignore a merge into a value that is no object", () => {
    const entries = new Entries();
    const writes = [update("a", { mine: 1 }), update("list", { mine: 1 })];
    for (const write of writes) entries.add(write);
    entries.confirm("a", { value: { theirs: 2, mine: 2 }, version: 4 });
    entries.confirm("list", { value: [1], version: 5 });
    expect(shown(entries)).toEqual({ a: { theirs: 2, mine: 1 }, list: [1] });
    for (const write of writes) entries.remove(write);
    expect(shown(entries)).toEqual({ a: { theirs: 2, mine: 2 }, list: [1] });
  });

  it("return the same objects until their content changes", () => {
    const entries = new Entries();
    const note = { text: "Hello" };
    const write = set("a", note);
    entries.add(write);
    const all = entries.getAll();
    expect(entries.confirm("a", { value: { text: "Hello" }, version: 1 })).toBe(null);
    expect(entries.remove(write)).toBe(null);
    expect(entries.getAll()).toBe(all);
    expect(entries.getAll().a).toBe(note);
    entries.confirm("b", { value: null, version: 3 });
    expect(entries.getAll()).not.toBe(all);
    expect(entries.getAll()).toEqual({ a: note, b: null });
    expect(entries.getAll().a).toBe(note);
  });

  it("accept any text as a key", () => {
    const entries = new Entries();
    entries.confirm("__proto__", { value: 1, version: 1 });
    entries.confirm("constructor", { value: 2, version: 2 });
    entries.add(set("toString", 3));
    expect(Object.entries(entries.getAll())).toEqual([
      ["__proto__", 1],
      ["constructor", 2],
      ["toString", 3],
    ]);
    expect(entries.getAll().valueOf).toBeUndefined();
    expect(entries.get("__proto__")).toBe(1);
  });
});

describe("a shape", () => {
  const { tasks } = defineStores({
    tasks: {
      title: { type: "string", required: true },
      done: { type: "boolean", default: false },
      size: { type: "number" },
      tags: { type: "array", default: ["new"] },
      about: { type: "object" },
    },
  });

  const fitted = (value: unknown, action: "set" | "update" = "set") =>
    fitWrite(tasks, { action, key: "a", value }).value;

  it("fills in defaults, with a new copy for each value", () => {
    const task = fitted({ title: "Plan", size: undefined });
    expect(task).toEqual({ title: "Plan", done: false, tags: ["new"] });
    expect(fitted(task)).toEqual(task);
    expect((fitted(task) as { tags: unknown }).tags).not.toBe(tasks.tags.default);
    expect(fitted({ done: true }, "update")).toEqual({ done: true });
  });

  it.each([
    [{}, "title is required"],
    [{ title: 1 }, "title must be of type string"],
    [{ title: null }, "title must be of type string"],
    [{ title: "Plan", done: "no" }, "done must be of type boolean"],
    [{ title: "Plan", size: Number.NaN }, "value.size must be JSON, and NaN is not"],
    [{ title: "Plan", tags: {} }, "tags must be of type array"],
    [{ title: "Plan", about: [] }, "about must be of type object"],
    [{ title: "Plan", titel: "Plan" }, "titel is not a field of this store"],
    [{ title: "Plan", toString: "Plan" }, "toString is not a field of this store"],
    [["Plan"], "value must be an object"],
    [undefined, "value must be JSON"],
  ])("refuses %j and says: %s", (value, message) => {
    expect(() => fitted(value)).toThrow(
      expect.objectContaining({ code: "VALIDATION_ERROR", module: "Stores", message }),
    );
  });
});

// Two members write one key, in every order of their calls and of messages on their way: the changes that each
// receives.

type Name = "ada" | "bo";
/** A member writes, its next frame reaches the room, the next message reaches it, or its connection is cut, or reset. */
type Step = `${Name} ${"writes" | "up" | "down" | "cut" | "reset"}`;
type Write = (client: ModelClient) => void;
type Change = Pick<StoreChange<unknown>, "previous" | "value" | "userId" | "reason">;

/** All orders of the steps of both, each of whom keeps its own order. */
function ordersOf(one: readonly Step[], other: readonly Step[]): Step[][] {
  const [first, second] = [one[0], other[0]];
  if (first === undefined || second === undefined) return [[...one, ...other]];
  return [
    ...ordersOf(one.slice(1), other).map((rest) => [first, ...rest]),
    ...ordersOf(one, other.slice(1)).map((rest) => [second, ...rest]),
  ];
}

const stepsOf = (name: Name): Step[] => [
  ...[`${name} down` as const, `${name} writes` as const, `${name} up` as const],
  ...[`${name} down` as const, `${name} down` as const],
];

/** A room with both, in which the entry `a` is `initial`. */
class Race {
  readonly room = new ModelRoom();
  readonly members = { ada: new ModelClient(this.room, "ada"), bo: new ModelClient(this.room, "bo") };
  readonly #all = Object.values(this.members);

  async begin(initial: unknown): Promise<void> {
    this.room.write("notes", "a", initial);
    for (const client of this.#all) {
      void client.client.join();
      client.sync();
      await client.deliverAll();
      client.mirror.changes.length = 0;
    }
  }

  async play(steps: readonly Step[], writes: Readonly<Record<Name, Write>>): Promise<void> {
    for (const step of steps) {
      const [name, act] = step.split(" ") as [Name, string];
      const client = this.members[name];
      if (act === "writes") writes[name](client);
      else if (act === "up") client.socket?.deliverUp();
      else if (act === "down") client.socket?.deliverDown();
      else this.#reconnect(client, act === "reset");
      await settle();
      for (const { mirror } of this.#all) expect([steps, mirror.isTrue]).toEqual([steps, true]);
    }
    for (const client of [...this.#all, ...this.#all]) await client.deliverAll();
    for (const { mirror, client } of this.#all) {
      expect([steps, mirror.isTrue]).toEqual([steps, true]);
      expect([steps, { ...mirror.store.getAll() }]).toEqual([steps, this.room.entries("notes")]);
      client.disconnect();
    }
  }

  /**
   * Cuts the connection, and opens another one, for a reset to a room that has forgotten the changes of the
   * meantime.
   */
  #reconnect(client: ModelClient, isReset: boolean): void {
    client.socket?.cut();
    if (isReset) {
      this.room.write("notes", "b", "new");
      this.room.forgetChanges();
    }
    client.clock.advance(10_000);
  }

  changesOf(name: Name): Change[] {
    return this.members[name].mirror.changes.map(({ previous, value, userId, reason }) => {
      return { previous, value, userId, reason };
    });
  }
}

const sets =
  (value: string): Write =>
  (client) =>
    client.set("a", value);
const change = (reason: Change["reason"], userId: Name, previous: unknown, value: unknown): Change => ({
  ...{ previous, value, userId, reason },
});

/** Ada's connection is cut, or reset, at any moment of her race with Bo. */
const disturbed = (how: "cut" | "reset"): Step[][] =>
  [0, 1, 2, 3, 4, 5].flatMap((at) =>
    ordersOf(stepsOf("ada").toSpliced(at, 0, `ada ${how}`), ["bo writes", "bo up", "bo down"]),
  );

describe("two members who write one key receive, in every order,", () => {
  it.each([
    ["writes", "bo's", sets("bo's")],
    ["deletes", undefined, (client: ModelClient) => client.delete("a")],
  ])("exactly the write that wins over their own, when one %s it", async (_, bos, bo) => {
    const values = { ada: "ada's", bo: bos };
    for (const steps of ordersOf(stepsOf("ada"), stepsOf("bo"))) {
      const race = new Race();
      await race.begin("old");
      await race.play(steps, { ada: sets("ada's"), bo });
      const isAdaFirst = steps.indexOf("ada up") < steps.indexOf("bo up");
      const [first, later] = isAdaFirst ? (["ada", "bo"] as const) : (["bo", "ada"] as const);
      const hasSeen = steps.indexOf(`${first} up`) < steps.indexOf(`${later} down`);
      const seen = hasSeen ? [change("remote", first, "old", values[first])] : [];
      expect([steps, race.changesOf(later)]).toEqual([steps, seen]);
      const lost = [change("remote", later, values[first], values[later])];
      expect([steps, race.changesOf(first)]).toEqual([steps, lost]);
    }
  });

  it("what takes the place of a refused write, with the reason `reverted`", async () => {
    for (const steps of ordersOf(stepsOf("ada"), stepsOf("bo"))) {
      const race = new Race();
      race.room.isRefused = (value) => value === "ada's";
      await race.begin("old");
      await race.play(steps, { ada: sets("ada's"), bo: sets("bo's") });
      const at = steps.indexOf("bo up");
      const theirs = change("remote", "bo", "old", "bo's");
      const isSeen = at < steps.indexOf("ada down");
      const isHidden = at < steps.indexOf("ada up");
      const reverted = change("reverted", "ada", "ada's", isHidden ? "bo's" : "old");
      const expected = isSeen ? [theirs, reverted] : isHidden ? [reverted] : [reverted, theirs];
      expect([steps, race.changesOf("ada")]).toEqual([steps, expected]);
      expect([steps, race.changesOf("bo")]).toEqual([steps, []]);
    }
  });

  it("the same when the connection of one is cut at any moment", async () => {
    for (const steps of disturbed("cut")) {
      const race = new Race();
      await race.begin("old");
      await race.play(steps, { ada: sets("ada's"), bo: sets("bo's") });
      const isAdaFirst = race.room.applied.at(-1)?.value === "bo's";
      const changes = race.changesOf("ada");
      const lost = [change("remote", "bo", "ada's", "bo's")];
      const seen = [change("remote", "bo", "old", "bo's")].slice(0, changes.length);
      expect([steps, changes]).toEqual([steps, isAdaFirst ? lost : seen]);
    }
  });

  it("one change each when they update other fields, and it has both", async () => {
    const writes = {
      ada: (client: ModelClient) => client.update("a", { ada: 1 }),
      bo: (client: ModelClient) => client.update("a", { bo: 1 }),
    };
    for (const steps of ordersOf(stepsOf("ada"), stepsOf("bo"))) {
      const race = new Race();
      await race.begin({});
      await race.play(steps, writes);
      for (const [name, other] of [["ada", "bo"] as const, ["bo", "ada"] as const]) {
        const isFirst = steps.indexOf(`${other} up`) < steps.indexOf(`${name} down`);
        const own = isFirst ? {} : { [name]: 1 };
        const expected = [change("remote", other, own, { ...own, [other]: 1 })];
        expect([steps, race.changesOf(name)]).toEqual([steps, expected]);
      }
    }
  });
});

it("a reset at any moment of a race reports differences by no one, before it is over, and never a write of one's own", async () => {
  for (const steps of disturbed("reset")) {
    const race = new Race();
    await race.begin("old");
    const { mirror, client } = race.members.ada;
    const reports: string[] = [];
    mirror.store.on("changed", ({ reason }) => reports.push(reason));
    client.socket.on("reconnected", () => reports.push("reconnected"));
    await race.play(steps, { ada: sets("ada's"), bo: sets("bo's") });
    const isReported = reports.lastIndexOf("resynced") < reports.indexOf("reconnected");
    expect([steps, reports.includes("resynced"), isReported]).toEqual([steps, true, true]);
    for (const { reason, userId, value } of race.changesOf("ada")) {
      expect([steps, reason, userId]).toEqual([steps, reason, reason === "resynced" ? null : "bo"]);
      expect([steps, ["bo's", "new"].includes(String(value))]).toEqual([steps, true]);
    }
    for (const { reason, value } of race.changesOf("bo"))
      expect([steps, reason, ["ada's", "new"].includes(String(value))]).toEqual([steps, "remote", true]);
  }
});
