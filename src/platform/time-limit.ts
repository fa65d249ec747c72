/** Waiting for a time, and for work that may hang. */

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
