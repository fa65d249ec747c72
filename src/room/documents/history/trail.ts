/** The trail of a document: what each author wrote, minute by minute, and coarser when it is old. Folding it loses no operation. */
import type { TrailEntry } from "../../port/document-history.ts";
import { distinctAuthors } from "../../storage/authors.ts";
import type { StoredUpdate } from "../../storage/storage-documents.ts";
import { MAX_PART_BYTES } from "../updates/limits.ts";
import { type Deleted, mergeWhole } from "../updates/merge-whole.ts";
import { MAX_AUTHORS, TRAIL_STRETCH_MS } from "./history-limits.ts";

/** What an entry of the trail and an update have in common. */
type Written = Omit<TrailEntry, "bytes">;

/**
 * The updates in which consecutive ones of an author that belong to one stretch of time are one. None is joined with the
 * one after it whose number is among `ends`: there is a version between them.
 */
export const foldTrail = (updates: readonly StoredUpdate[], ends: ReadonlySet<number>): StoredUpdate[] =>
  stretchesOf(updates, ends, ({ data }) => data.length, isOneMinute).flatMap((stretch) =>
    joinUpdates(stretch, "kept"),
  );

/** The updates as one, if that has all that they have; otherwise as they are. `deleted` as for {@link mergeWhole}. */
export function joinUpdates(stretch: Stretch<StoredUpdate>, deleted: Deleted): StoredUpdate[] {
  if (stretch.length === 1) return stretch;
  const updates = stretch.map(({ data }) => data);
  const [data, ...others] = mergeWhole(updates, deleted);
  return data === undefined || others.length > 0 ? stretch : [{ ...joined(stretch), data }];
}

/** The same for entries of the trail, oldest first. */
export const foldEntries = (entries: readonly TrailEntry[], ends: ReadonlySet<number>): TrailEntry[] =>
  stretchesOf(entries, ends, ({ bytes }) => bytes, isOneMinute).map((stretch) => ({
    ...joined(stretch),
    bytes: sumOfBytes(stretch),
  }));

/** Entries that become one when they are older than the trail is kept: all between two of the `ends` that fit into one. */
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

/** What becomes one. */
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

/** Whether the same author wrote both, within a minute. */
const isOneMinute = (first: Written, item: Written): boolean =>
  item.at - first.firstAt < TRAIL_STRETCH_MS &&
  distinctAuthors([...first.authors, ...item.authors]).length === 1;
