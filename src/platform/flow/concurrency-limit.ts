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
