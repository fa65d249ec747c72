/** Text of a store's entries, as much as is sent at once. */
import type { EntryText } from "../../storage/storage-content.ts";

/** Texts that continue each other. */
export interface EntryTexts {
  readonly texts: readonly EntryText["items"][];
  readonly bytes: number;
  /** The last key; null at the end of the store. */
  readonly lastKey: string | null;
}

/** Takes texts until there are so many bytes. */
export function collectTexts(found: Iterable<EntryText>, wantedBytes: number): EntryTexts {
  const texts: EntryText["items"][] = [];
  let bytes = 0;
  for (const { items, lastKey } of found) {
    texts.push(items);
    bytes += items.length;
    if (bytes >= wantedBytes) return { texts, bytes, lastKey };
  }
  return { texts, bytes, lastKey: null };
}
