/** Awareness of a document: the states that a socket may show, and their ends (D12). */
import { expect, it } from "vitest";
import { Awareness } from "../../../src/room/documents/sync/channels.ts";
import type { AwarenessEntry } from "../../../src/room/documents/sync/frames.ts";

const entry = (client: number, state = "{}", clock = 1): AwarenessEntry => ({ client, clock, state });
const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

it("a state nests at most 40 levels deep, since others compare states by recursion (D12)", () => {
  const awareness = new Awareness();
  expect(awareness.apply("a", [entry(1, nested(40)), entry(2, nested(41))])).toEqual([entry(1, nested(40))]);
  expect(awareness.apply("a", [entry(1, nested(41), 2)])).toEqual([]);
  expect(awareness.all()).toMatchObject([{ client: 1, clock: 1 }]);
});

it("a socket has at most 32 entries at once, and those of others stay theirs (D12)", () => {
  const awareness = new Awareness();
  const many = Array.from({ length: 40 }, (_, client) => entry(client));
  expect(awareness.apply("a", many)).toHaveLength(32);
  expect(awareness.apply("b", [entry(0, '"mine"', 9), entry(99)])).toEqual([entry(99)]);
  expect(awareness.apply("a", [entry(0, "null", 2), entry(50)])).toEqual([entry(0, "null", 2), entry(50)]);
  expect(awareness.apply("a", [entry(51)])).toEqual([]);
});

it("what a socket showed is gone with it, and its ids may be used again (D12)", () => {
  const awareness = new Awareness();
  awareness.apply("a", [entry(1), entry(2, "{}", 5)]);
  awareness.apply("b", [entry(3)]);
  expect(awareness.remove("a")).toEqual([entry(1, "null"), entry(2, "null", 5)]);
  expect(awareness.remove("a")).toEqual([]);
  expect(awareness.apply("b", [entry(1)])).toEqual([entry(1)]);
  expect(awareness.all()).toMatchObject([{ client: 3 }, { client: 1 }]);
});
