/** Events are counted by one write at a time, of all that has happened since the one before. */
import { expect, it } from "vitest";
import { EventCounter } from "../../src/event-log/object/event-counter.ts";
import { HOUR_MS } from "../../src/metrics/counters/hourly-count-store.ts";

it("events are counted together while a write is in flight, by the hour, and a failed write ends none", async () => {
  const writes: [hour: number, events: number][] = [];
  const failures: unknown[] = [];
  const first = Promise.withResolvers<void>();
  let work: Promise<unknown> = Promise.resolve();
  const counter = new EventCounter({
    write: (at, events) => {
      writes.push([at, events]);
      return writes.length === 1 ? first.promise : Promise.resolve();
    },
    keepAlive: (promise) => {
      work = promise;
    },
    failed: (error) => failures.push(error),
  });
  counter.count(5, 1);
  for (const at of [6, 7, HOUR_MS + 1]) counter.count(at, 2);
  expect(writes).toEqual([[0, 1]]);
  first.reject(new Error("on purpose"));
  await work;
  expect(writes).toEqual([
    [0, 1],
    [0, 4],
    [HOUR_MS, 2],
  ]);
  expect(failures).toHaveLength(1);
});
