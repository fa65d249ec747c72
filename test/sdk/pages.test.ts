/** Lists that go on over many pages. */
import { expect, it } from "vitest";
import { eachOf } from "../../src/sdk/server/pages.ts";

it("reads a page only when its first item is wanted, and goes on behind the last one until none follows", async () => {
  const asked: unknown[] = [];
  const pages = [
    { items: [1, 2], cursor: "a" },
    { items: [], cursor: "b" },
    { items: [3], cursor: null },
  ];
  const read = async (part: object) => {
    asked.push(part);
    return pages[asked.length - 1] ?? { items: [], cursor: null };
  };
  const numbers = eachOf("items", read);
  expect(asked).toEqual([]);
  expect([await numbers.next(), await numbers.next()].map(({ value }) => value)).toEqual([1, 2]);
  expect(asked).toEqual([{ limit: 100 }]);
  const others: number[] = [];
  for await (const number of numbers) others.push(number);
  expect(others).toEqual([3]);
  expect(asked).toEqual([{ limit: 100 }, { limit: 100, after: "a" }, { limit: 100, after: "b" }]);
});
