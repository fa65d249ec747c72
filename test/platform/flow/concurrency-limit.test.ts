/** Work for many in turns. */
import { expect, it } from "vitest";
import { roundRobin } from "../../../src/platform/flow/concurrency.ts";

/** Pieces of work by their names, which take so many turns each, and note the order in which they had them. */
async function turnsOf(pieces: Readonly<Record<string, number>>, turns: number, concurrency: number) {
  const taken: string[] = [];
  const first = Object.entries(pieces).map(([name, left]) => ({ name, left }));
  await roundRobin(first, { turns, concurrency }, async ({ name, left }) => {
    taken.push(name);
    await null;
    return left > 1 ? { name, left: left - 1 } : null;
  });
  return taken.join("");
}

it("what needs more turns has them behind all others", async () => {
  expect(await turnsOf({ a: 3, b: 1, c: 2 }, 99, 1)).toBe("abcaca");
});

it("no more turns begin than may", async () => {
  expect(await turnsOf({ a: 3, b: 1, c: 2 }, 4, 1)).toBe("abca");
  expect(await turnsOf({ a: 3, b: 1, c: 2 }, 0, 1)).toBe("");
});

it("one that never ends its turn takes one place of those at the same time, and holds up no other", async () => {
  const taken: string[] = [];
  const ends = new Set<() => void>();
  const all = roundRobin(["stuck", "a", "b", "c"], { turns: 9, concurrency: 2 }, (name) => {
    taken.push(name);
    return name === "stuck" ? new Promise((resolve) => ends.add(() => resolve(null))) : Promise.resolve(null);
  });
  await expect.poll(() => taken).toEqual(["stuck", "a", "b", "c"]);
  for (const end of ends) end();
  await all;
});
