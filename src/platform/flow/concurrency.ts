/** Concurrency limits: a bounded number of pieces of work at once. */
import { combined } from "@atrium/contract/errors.ts";

const runWorkers = (count: number, worker: () => Promise<void>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, worker));

export async function forEachConcurrently<Item>(
  limit: number,
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  await runWorkers(limit, async () => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) await work(next.value);
  });
}

interface RoundRobinLimits {
  readonly turns: number;
  readonly concurrency: number;
}

/** Round robin: `take` returns the next turn of the same task, or null. Hanging work takes one place. */
export async function roundRobin<Turn>(
  first: Iterable<Turn>,
  { turns, concurrency }: RoundRobinLimits,
  take: (turn: Turn) => Promise<Turn | null>,
): Promise<void> {
  const queue = [...first];
  let left = turns;
  await runWorkers(concurrency, async () => {
    for (let turn = queue.shift(); turn !== undefined && left > 0; turn = queue.shift()) {
      left -= 1;
      const next = await take(turn);
      if (next !== null) queue.push(next);
    }
  });
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const TIMED_OUT = Symbol("timed out");

export async function withTimeLimit<T>(work: Promise<T>, ms: number): Promise<T | typeof TIMED_OUT> {
  const { promise, resolve } = Promise.withResolvers<typeof TIMED_OUT>();
  const timer = setTimeout(() => resolve(TIMED_OUT), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs tasks concurrently, each within the limit. Rejects in the end with all failures. */
export async function runTasks(
  tasks: Readonly<Record<string, () => Promise<unknown>>>,
  limitMs: number,
): Promise<void> {
  const failures: unknown[] = [];
  const run = async ([name, task]: [string, () => Promise<unknown>]) => {
    try {
      if ((await withTimeLimit(task(), limitMs)) === TIMED_OUT)
        throw new Error(`The task ${name} did not end in time`);
    } catch (error) {
      failures.push(error);
    }
  };
  await Promise.all(Object.entries(tasks).map(run));
  if (failures.length > 0) throw combined(failures);
}
