/** The in-memory cache: how long entries live, which one makes room, and what is evicted by hand. */
import { expect, it } from "vitest";
import { TtlCache } from "../../src/platform/cache.ts";

const newCache = () => new TtlCache<string>({ ttlMs: 1_000, maxEntries: 2 });

it("returns an entry until its lifetime is over, and then forgets it", () => {
  const cache = newCache();
  cache.set("a", "first", 5_000);
  expect(cache.get("a", 5_999)).toBe("first");
  expect(cache.get("a", 6_000)).toBeUndefined();
  expect(cache.size).toBe(0);
});

it("restarts the lifetime of an entry that is set again", () => {
  const cache = newCache();
  cache.set("a", "first", 0);
  cache.set("a", "second", 900);
  expect(cache.get("a", 1_500)).toBe("second");
});

it("drops the entry that was set first when it is full, where replacing an entry needs no room", () => {
  const cache = newCache();
  cache.set("a", "1", 0);
  cache.set("b", "2", 0);
  cache.set("a", "3", 0);
  expect(cache.size).toBe(2);
  cache.set("c", "4", 0);
  expect([cache.get("a", 0), cache.get("b", 0), cache.get("c", 0)]).toEqual(["3", undefined, "4"]);
});

it("evicts one entry by its key, and all that match by their value", () => {
  const cache = newCache();
  cache.set("a", "x", 0);
  cache.set("b", "y", 0);
  expect(cache.delete("a")).toBe(true);
  expect(cache.delete("a")).toBe(false);
  cache.deleteWhere((value) => value === "y");
  expect(cache.size).toBe(0);
});
