/** The trail of a document: what each author wrote, minute by minute. Folding it loses no author and no operation. */
import type { Author, TrailEntry } from "../port/document-history.ts";
import type { StoredUpdate } from "../storage/storage-documents.ts";
import { MAX_PART_BYTES, TRAIL_STRETCH_MS } from "./limits.ts";
import { mergeWhole } from "./merge-whole.ts";

/** What an entry of the trail and an update have in common. */
type Written = Omit<TrailEntry, "bytes">;

/**
 * The updates in which consecutive ones of an author that belong to one stretch of time are one. None is joined with the
 * one after it whose number is among `ends`: there is a version between them.
 */
export const foldTrail = (updates: readonly StoredUpdate[], ends: ReadonlySet<number>): StoredUpdate[] =>
  stretchesOf(updates, ends, ({ data }) => data.length).flatMap((stretch) => {
    const [data, ...others] = mergeWhole(stretch.map(({ data }) => data));
    return data === undefined || others.length > 0 ? stretch : [{ ...joined(stretch), data }];
  });

/** The same for entries of the trail, oldest first. */
export const foldEntries = (entries: readonly TrailEntry[], ends: ReadonlySet<number>): TrailEntry[] =>
  stretchesOf(entries, ends, ({ bytes }) => bytes).map((stretch) => ({
    ...joined(stretch),
    bytes: stretch.reduce((sum, { bytes }) => sum + bytes, 0),
  }));

type Stretch<Item> = [first: Item, ...others: Item[]];

function stretchesOf<Item extends Written>(
  items: readonly Item[],
  ends: ReadonlySet<number>,
  bytesOf: (item: Item) => number,
): Stretch<Item>[] {
  const stretches: Stretch<Item>[] = [];
  let bytes = 0;
  for (const item of items) {
    const stretch = stretches.at(-1);
    bytes += bytesOf(item);
    const continues =
      stretch !== undefined &&
      !ends.has((stretch.at(-1) ?? item).seq) &&
      isSame(stretch[0].author, item.author) &&
      item.at - stretch[0].firstAt < TRAIL_STRETCH_MS &&
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
    author: first.author,
  };
}

const isSame = (one: Author, other: Author): boolean =>
  one.type === other.type && ("id" in one ? one.id : "") === ("id" in other ? other.id : "");
