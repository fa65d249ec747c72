/** The edit history of a document (`trail` on the wire): entries by author and minute, coarser with age. */

import { distinctAuthors } from "../../storage/authors.ts";
import type { StoredUpdate } from "../../storage/storage-documents.ts";
import type { TrailEntry } from "../../types/documents.ts";
import { HISTORY_STRETCH_MS, MAX_AUTHORS, MAX_PART_BYTES } from "../updates/limits.ts";
import { type Deleted, mergeWhole } from "../updates/merge.ts";

/** The fields that a history entry and an update share. */
type Written = Omit<TrailEntry, "bytes">;

/**
 * Joins consecutive updates of one author within a minute. `ends` are the numbers of versions: updates on both sides
 * of one stay apart.
 */
export const foldEditHistory = (
  updates: readonly StoredUpdate[],
  ends: ReadonlySet<number>,
): StoredUpdate[] =>
  stretchesOf(updates, ends, ({ data }) => data.length, isOneMinute).flatMap((stretch) =>
    joinUpdates(stretch, "kept"),
  );

/** Joins updates, unless an operation were lost: then they stay as they are. `deleted` as for {@link mergeWhole}. */
export function joinUpdates(stretch: Stretch<StoredUpdate>, deleted: Deleted): StoredUpdate[] {
  if (stretch.length === 1) return stretch;
  const updates = stretch.map(({ data }) => data);
  const [data, ...others] = mergeWhole(updates, deleted);
  return data === undefined || others.length > 0 ? stretch : [{ ...joined(stretch), data }];
}

/** Joins entries as {@link foldEditHistory} joins updates, oldest first. */
export const foldHistoryEntries = (entries: readonly TrailEntry[], ends: ReadonlySet<number>): TrailEntry[] =>
  stretchesOf(entries, ends, ({ bytes }) => bytes, isOneMinute).map((stretch) => ({
    ...joined(stretch),
    bytes: sumOfBytes(stretch),
  }));

/** Groups old entries: all between two of the `ends`, up to the size of a part. */
export const agedStretches = (
  entries: readonly TrailEntry[],
  ends: ReadonlySet<number>,
): Stretch<TrailEntry>[] =>
  stretchesOf(
    entries,
    ends,
    ({ bytes }) => bytes,
    () => true,
  );

export const sumOfBytes = (entries: readonly TrailEntry[]): number =>
  entries.reduce((sum, { bytes }) => sum + bytes, 0);

/** Items that become one. */
export type Stretch<Item> = [first: Item, ...others: Item[]];

function stretchesOf<Item extends Written>(
  items: readonly Item[],
  ends: ReadonlySet<number>,
  bytesOf: (item: Item) => number,
  belongs: (first: Item, item: Item) => boolean,
): Stretch<Item>[] {
  const stretches: Stretch<Item>[] = [];
  let bytes = 0;
  for (const item of items) {
    const stretch = stretches.at(-1);
    bytes += bytesOf(item);
    const continues =
      stretch !== undefined &&
      !ends.has((stretch.at(-1) ?? item).seq) &&
      belongs(stretch[0], item) &&
      bytes <= MAX_PART_BYTES;
    if (continues) stretch.push(item);
    else {
      stretches.push([item]);
      bytes = bytesOf(item);
    }
  }
  return stretches;
}

function joined([first, ...others]: Stretch<Written>): Written {
  const last = others.at(-1) ?? first;
  return {
    seq: last.seq,
    updates: others.reduce((sum, { updates }) => sum + updates, first.updates),
    firstAt: first.firstAt,
    at: last.at,
    authors: distinctAuthors([first, ...others].flatMap(({ authors }) => authors)).slice(0, MAX_AUTHORS),
  };
}

/** Tells whether one author wrote both within a minute. */
const isOneMinute = (first: Written, item: Written): boolean =>
  item.at - first.firstAt < HISTORY_STRETCH_MS &&
  distinctAuthors([...first.authors, ...item.authors]).length === 1;
