/** The entries that a store shows: confirmed ones with pending writes on top; and the validation by its shape. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Entries, type Operation } from "../../src/sdk/client/stores/entries.ts";
import { defineStores, fitPatch, fitValue } from "../../src/sdk/client/stores/shapes.ts";

const set = (key: string, value: unknown): Operation => ({ action: "set", key, value });
const update = (key: string, value: unknown): Operation => ({ action: "update", key, value });
const remove = (key: string): Operation => ({ action: "delete", key, value: null });
const shown = (entries: Entries) => ({ ...entries.getAll() });

describe("entries", () => {
  it("show a write at once, and the confirmed entry again after a rollback", () => {
    const entries = new Entries();
    entries.confirm("a", { value: { x: 1, y: 1 }, version: 1 });
    const writes = [update("a", { y: 2 }), set("b", 1), remove("a"), set("a", 7)].map((operation) => {
      const rollBack = entries.applyOptimistically([operation]);
      return { rollBack, shown: shown(entries) };
    });
    expect(writes.map((each) => each.shown)).toEqual([
      { a: { x: 1, y: 2 } },
      { a: { x: 1, y: 2 }, b: 1 },
      { b: 1 },
      { a: 7, b: 1 },
    ]);
    writes[2]?.rollBack();
    writes[3]?.rollBack();
    expect(shown(entries)).toEqual({ a: { x: 1, y: 2 }, b: 1 });
    writes[0]?.rollBack();
    writes[1]?.rollBack();
    expect(shown(entries)).toEqual({ a: { x: 1, y: 1 } });
    expect([entries.getVersion("a"), entries.getVersion("b")]).toEqual([1, 0]);
  });

  it("apply changes by others beneath a pending write, and ignore a merge into a value that is no object", () => {
    const entries = new Entries();
    const rollBack = entries.applyOptimistically([update("a", { mine: 1 }), update("list", { mine: 1 })]);
    entries.confirm("a", { value: { theirs: 2, mine: 2 }, version: 4 });
    entries.confirm("list", { value: [1], version: 5 });
    expect(shown(entries)).toEqual({ a: { theirs: 2, mine: 1 }, list: [1] });
    rollBack();
    expect(shown(entries)).toEqual({ a: { theirs: 2, mine: 2 }, list: [1] });
  });

  it("return the same objects until their content changes", () => {
    const entries = new Entries();
    const note = { text: "Hello" };
    const rollBack = entries.applyOptimistically([set("a", note)]);
    const [all, revision] = [entries.getAll(), entries.revision];
    entries.confirm("a", { value: { text: "Hello" }, version: 1 });
    rollBack();
    entries.replace({ a: { value: { text: "Hello" }, version: 2 } });
    expect(entries.getAll()).toBe(all);
    expect(entries.getAll().a).toBe(note);
    expect(entries.revision).toBe(revision);
    entries.confirm("b", { value: null, version: 3 });
    expect(entries.getAll()).not.toBe(all);
    expect(entries.getAll()).toEqual({ a: note, b: null });
    expect(entries.getAll().a).toBe(note);
  });

  it("accept any text as a key", () => {
    const entries = new Entries();
    entries.replace(
      JSON.parse('{"__proto__":{"value":1,"version":1},"constructor":{"value":2,"version":2}}'),
    );
    entries.applyOptimistically([set("toString", 3)]);
    expect(Object.entries(entries.getAll())).toEqual([
      ["__proto__", 1],
      ["constructor", 2],
      ["toString", 3],
    ]);
    expect(entries.getAll().valueOf).toBeUndefined();
    expect(entries.get("__proto__")).toBe(1);
  });

  it("recognize each of their own changes once, and tell it from a change in another tab", () => {
    const entries = new Entries();
    entries.applyOptimistically([set("a", { x: 1 })]);
    entries.applyOptimistically([update("a", { y: 2 })]);
    entries.applyOptimistically([remove("a")]);
    expect(entries.claim(set("a", { x: 2 }))).toBe(false);
    expect(entries.claim(set("b", { x: 1 }))).toBe(false);
    expect(entries.claim(set("a", { x: 1 }))).toBe(true);
    expect(entries.claim(set("a", { x: 1 }))).toBe(false);
    expect(entries.claim(update("a", { x: 1, y: 3 }))).toBe(false);
    expect(entries.claim(update("a", { x: 1, y: 2 }))).toBe(true);
    expect([entries.claim(remove("a")), entries.claim(remove("a"))]).toEqual([true, false]);
  });

  it("equal the confirmed entries after any sequence of writes and rollbacks", () => {
    const key = fc.constantFrom("a", "b");
    const value = fc.oneof(fc.integer(), fc.record({ x: fc.nat(3) }), fc.record({ y: fc.nat(3) }));
    const operation = fc.oneof(
      fc.record({ action: fc.constantFrom("set" as const, "update" as const), key, value }),
      fc.record({ action: fc.constant("delete" as const), key, value: fc.constant(null) }),
    );
    const step = fc.oneof(
      fc.record({ write: fc.array(operation, { minLength: 1, maxLength: 3 }) }),
      fc.record({ rollBack: fc.nat(5) }),
      fc.record({ confirm: key, to: fc.option(value) }),
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const entries = new Entries();
        const confirmed = new Map<string, unknown>();
        const rollBacks: (() => void)[] = [];
        for (const [version, each] of steps.entries()) {
          if ("write" in each) rollBacks.push(entries.applyOptimistically(each.write));
          else if ("rollBack" in each) rollBacks.splice(each.rollBack, 1)[0]?.();
          else {
            const { confirm, to } = each;
            entries.confirm(confirm, to === null ? null : { value: to, version });
            if (to === null) confirmed.delete(confirm);
            else confirmed.set(confirm, to);
          }
        }
        for (const rollBack of rollBacks) rollBack();
        expect(shown(entries)).toEqual(Object.fromEntries(confirmed));
      }),
    );
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
