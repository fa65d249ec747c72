/** Work for many, such as organizations, that take turns: several at once, and none waits until another is done. */

export interface TurnLimits {
  /** So many turns may begin. */
  readonly turns: number;
  /** So many are taken at the same time. */
  readonly concurrency: number;
}

/** Gives each of `first` a turn, and further ones to what a turn returns, behind all others; null is done. */
export async function takeTurns<Turn>(
  first: Iterable<Turn>,
  { turns, concurrency }: TurnLimits,
  take: (turn: Turn) => Promise<Turn | null>,
): Promise<void> {
  const waiting = [...first];
  let left = turns;
  await inParallel(concurrency, async () => {
    for (let turn = waiting.shift(); turn !== undefined && left > 0; turn = waiting.shift()) {
      left -= 1;
      const next = await take(turn);
      if (next !== null) waiting.push(next);
    }
  });
}

export const inParallel = (count: number, work: () => Promise<void>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, work));
