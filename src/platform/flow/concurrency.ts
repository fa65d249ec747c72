/** Concurrency limits: several pieces of work at once, and no more. */

const runWorkers = (count: number, worker: () => Promise<void>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, worker));

/** Runs `work` for each item, `limit` at once. Rejects with the first failure. */
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

export interface RoundRobinLimits {
  /** Turns that may begin. */
  readonly turns: number;
  /** Turns at the same time. */
  readonly concurrency: number;
}

/**
 * Round robin: each of `first` has a turn, and what a turn returns has another one behind all others; null ends. Work
 * that hangs takes one place and delays no other.
 */
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

/** Resolves after `ms` milliseconds. */
export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const TIMED_OUT = Symbol("timed out");

/** The result of `work`, or {@link TIMED_OUT} after `ms` milliseconds: it is then left to itself. */
export async function withTimeLimit<T>(work: Promise<T>, ms: number): Promise<T | typeof TIMED_OUT> {
  const { promise, resolve } = Promise.withResolvers<typeof TIMED_OUT>();
  const timer = setTimeout(() => resolve(TIMED_OUT), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs tasks beside each other, for so many milliseconds: one that fails or hangs costs the others nothing. Rejects in
 * the end with what has failed.
 */
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
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, failures.map(String).join("; "));
}
