/** Acting on several rows of a list. */
import { expect, it } from "vitest";
import { actOnSeveral } from "../../src/dashboard/page/data/act-on-several.ts";

const ITEMS = Array.from({ length: 20 }, (_, index) => index + 1);
const never = () => false;

/** How an action went, by what `act` does to each item. */
async function run(act: (item: number) => Promise<unknown>, isGeneral: (error: Error) => boolean = never) {
  const seen: number[] = [];
  const onProgress = (ended: number) => seen.push(ended);
  const progress = { onProgress, signal: new AbortController().signal };
  return { outcome: await actOnSeveral(ITEMS, act, isGeneral, progress), seen };
}

it("acts on each once, a few at a time, and counts what has ended", async () => {
  const acted: number[] = [];
  let running = 0;
  let most = 0;
  const { outcome, seen } = await run(async (item) => {
    acted.push(item);
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
  });
  expect(acted.toSorted((one, other) => one - other)).toEqual(ITEMS);
  expect(most).toBe(6);
  expect(seen).toEqual(ITEMS);
  expect(outcome).toEqual({ done: ITEMS, refused: [], left: [] });
});

it("names what was refused and why, and goes on", async () => {
  const error = new Error("The last owner cannot leave.");
  const { outcome } = await run((item) => (item % 7 === 0 ? Promise.reject(error) : Promise.resolve()));
  expect(outcome.refused).toEqual([
    { item: 7, error },
    { item: 14, error },
  ]);
  expect(outcome.done).toHaveLength(18);
  expect(outcome.left).toEqual([]);
});

it("begins nothing more after an error that concerns all of them", async () => {
  const { outcome } = await run(
    (item) => (item === 3 ? Promise.reject(new Error("gone")) : Promise.resolve()),
    () => true,
  );
  expect(outcome.refused.map(({ item }) => item)).toEqual([3]);
  expect(outcome.left.length).toBeGreaterThan(0);
  expect(outcome.done.length + outcome.refused.length + outcome.left.length).toBe(ITEMS.length);
});

it("ends what is under way and begins nothing more once it is stopped", async () => {
  const stop = new AbortController();
  const begun: number[] = [];
  const outcome = await actOnSeveral(
    ITEMS,
    async (item) => {
      begun.push(item);
      if (item === 2) stop.abort();
    },
    never,
    { onProgress: () => undefined, signal: stop.signal },
  );
  expect(outcome.done).toEqual(begun);
  expect(outcome.left).toEqual(ITEMS.filter((item) => !begun.includes(item)));
  expect(outcome.left.length).toBeGreaterThan(0);
});
