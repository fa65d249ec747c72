/** Fair queues: keys take turns. */
import { expect, it } from "vitest";
import { FairQueue } from "../../../src/platform/flow/fair-queue.ts";

function queueOf(items: Readonly<Record<string, number>>): FairQueue<string> {
  const queue = new FairQueue<string>();
  for (const [key, count] of Object.entries(items))
    for (let number = 1; number <= count; number += 1) queue.add(key, `${key}${number}`);
  return queue;
}

it("keys with waiting items take turns (R66)", () => {
  const queue = queueOf({ a: 3, b: 2 });
  expect([queue.take(), queue.take()]).toEqual(["a1", "b1"]);
  queue.add("c", "c1");
  expect(queue.takeAll((item) => item === "b2" || item === "a3")).toEqual(["a3", "b2"]);
  expect([queue.take(), queue.take(), queue.take()]).toEqual(["a2", "c1", undefined]);
});

it("a key whose oldest item is not ready keeps its place and its order", () => {
  const queue = queueOf({ a: 2, b: 2 });
  const isReady = (item: string) => item !== "a1";
  expect([queue.take(isReady), queue.take(isReady), queue.take(isReady)]).toEqual(["b1", "b2", undefined]);
  expect([...queue.heads()]).toEqual(["a1"]);
  expect([queue.take(), queue.itemsOf("a"), queue.itemsOf("b")]).toEqual(["a1", ["a2"], []]);
  expect([queue.takeOf("a"), queue.takeOf("a"), queue.take()]).toEqual([["a2"], [], undefined]);
});
