/** Does the same to several things, a few at a time, and says of each how it ended. Pure. */

/** Browsers send this many requests to one host at once over HTTP/1.1. */
const AT_ONCE = 6;

interface Refused<Item> {
  readonly item: Item;
  readonly error: Error;
}

/** The outcome: each item is in one of the three, in the given order. */
export interface Outcome<Item> {
  readonly done: readonly Item[];
  readonly refused: readonly Refused<Item>[];
  /** Not begun: the person has stopped, or the next ones would fail alike. */
  readonly left: readonly Item[];
}

export interface Progress {
  /** Called with how many have ended. */
  readonly onProgress: (ended: number) => void;
  /** Stops: what is under way ends, nothing more begins. */
  readonly signal: AbortSignal;
}

type Result = { readonly error: Error | null };

/**
 * Calls `act` for each item. Once `endsAll` is true for how one has ended, as for a connection that is gone, nothing
 * more begins.
 */
export async function actOnSeveral<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
  endsAll: (error: Error | null) => boolean,
  { onProgress, signal }: Progress,
): Promise<Outcome<Item>> {
  const results = new Map<Item, Result>();
  const waiting = items[Symbol.iterator]();
  let isOver = false;
  const work = async () => {
    for (const item of waiting) {
      const error = await act(item).then(() => null, toError);
      results.set(item, { error });
      if (endsAll(error)) isOver = true;
      onProgress(results.size);
      if (isOver || signal.aborted) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work));
  return {
    done: items.filter((item) => results.get(item)?.error === null),
    refused: items.flatMap((item) => {
      const error = results.get(item)?.error ?? null;
      return error === null ? [] : [{ item, error }];
    }),
    left: items.filter((item) => !results.has(item)),
  };
}

/** The thrown value as an error. */
export const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
