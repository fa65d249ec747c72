/** One page of a store's entries at a time, in the order of their keys, however many there are. */
import { useState } from "react";
import { useEntries } from "./use-stores.ts";

/** Larger pages are slow to render. */
const PAGE_SIZE = 100;

export interface EntryPosition {
  /** How many entries the pages before have. */
  readonly offset: number;
  readonly hasNext: boolean;
  readonly next: () => void;
  readonly previous: () => void;
}

/** `prefix` is what the keys begin with; empty for all. */
export function useEntryPage(roomId: string, store: string, prefix = "") {
  /** The last key of each page before this one. */
  const [passed, setPassed] = useState<{ readonly prefix: string; readonly keys: readonly string[] }>({
    prefix,
    keys: [],
  });
  const keys = passed.prefix === prefix ? passed.keys : [];
  const after = keys.at(-1);
  const query = useEntries(roomId, store, {
    prefix,
    limit: PAGE_SIZE,
    ...(after !== undefined && { after }),
  });
  const { next } = query.data ?? {};
  const position: EntryPosition = {
    offset: keys.length * PAGE_SIZE,
    hasNext: next !== undefined,
    next: () => next !== undefined && setPassed({ prefix, keys: [...keys, next] }),
    previous: () => setPassed({ prefix, keys: keys.slice(0, -1) }),
  };
  return { ...query, position };
}
