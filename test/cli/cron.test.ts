/** When a service on one machine runs its scheduled tasks. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { runEveryMinute } from "../../src/cli/service/cron.ts";

const NEVER = new AbortController().signal;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("runs them at its start and then every minute, even after one that fails", async () => {
  const failures: unknown[] = [];
  let runs = 0;
  const tasks = async () => {
    runs += 1;
    if (runs === 2) throw new Error("the service restarts");
  };
  runEveryMinute(tasks, (error) => failures.push(error), NEVER);
  expect(runs).toBe(1);
  await vi.advanceTimersByTimeAsync(59_999);
  expect(runs).toBe(1);
  await vi.advanceTimersByTimeAsync(60_001);
  expect(runs).toBe(3);
  expect(failures).toEqual([new Error("the service restarts")]);
});

it("waits for a run that takes longer", async () => {
  let runs = 0;
  let finish = () => {};
  const tasks = () => {
    runs += 1;
    return new Promise<void>((resolve) => {
      finish = resolve;
    });
  };
  runEveryMinute(tasks, () => {}, NEVER);
  await vi.advanceTimersByTimeAsync(180_000);
  expect(runs).toBe(1);
  finish();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(runs).toBe(2);
});

it("ends with the service, and reports no run that ends with it", async () => {
  const failures: unknown[] = [];
  const ending = new AbortController();
  let runs = 0;
  let fail = (_: Error) => {};
  const tasks = () => {
    runs += 1;
    return new Promise<void>((_, reject) => {
      fail = reject;
    });
  };
  runEveryMinute(tasks, (error) => failures.push(error), ending.signal);
  ending.abort();
  fail(new Error("the instance is disposed"));
  await vi.advanceTimersByTimeAsync(180_000);
  expect(runs).toBe(1);
  expect(failures).toEqual([]);
});
