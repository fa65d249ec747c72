/** The entries that a store shows: confirmed ones with pending writes on top; and the validation by its shape. */
import { describe, expect, it } from "vitest";
import { Entries, type Operation } from "../../src/sdk/client/stores/entries.ts";
import { defineStores, fitPatch, fitValue } from "../../src/sdk/client/stores/writes.ts";

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

  it("fills in defaults, with a new copy for each value", () => {
    const task = fitValue(tasks, { title: "Plan", size: undefined });
    expect(task).toEqual({ title: "Plan", done: false, tags: ["new"] });
    expect(fitValue(tasks, task)).toEqual(task);
    expect((fitValue(tasks, task) as { tags: unknown }).tags).not.toBe(tasks.tags.default);
    expect(fitPatch(tasks, { done: true })).toEqual({ done: true });
  });

  it.each([
    [{}, "title is required"],
    [{ title: 1 }, "title must be of type string"],
    [{ title: null }, "title must be of type string"],
    [{ title: "Plan", done: "no" }, "done must be of type boolean"],
    [{ title: "Plan", size: Number.NaN }, "size must be of type number"],
    [{ title: "Plan", tags: {} }, "tags must be of type array"],
    [{ title: "Plan", about: [] }, "about must be of type object"],
    [{ title: "Plan", titel: "Plan" }, "titel is not a field of this store"],
    [{ title: "Plan", toString: "Plan" }, "toString is not a field of this store"],
    [["Plan"], "value must be an object"],
    [undefined, "value must be JSON"],
  ])("refuses %j and says: %s", (value, message) => {
    expect(() => fitValue(tasks, value)).toThrow(
      expect.objectContaining({ code: "VALIDATION_ERROR", module: "Stores", message }),
    );
  });
});
