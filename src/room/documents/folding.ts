/** Folds the updates of documents into parts and edit history (`trail` on the wire), which gets coarser with age. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import type { StoredDocument, StoredUpdate } from "../storage/sqlite-documents.ts";
import type { RoomStorage } from "../storage/storage.ts";
import { distinctAuthors, type TrailEntry } from "../types/documents.ts";
import { deleteVersions, findUnversioned } from "./history/versions.ts";
import { KNOWN_PART, type LoadedDocument, type LoadedDocuments, sumOf } from "./loaded-documents.ts";
import { type Deleted, mergeWhole } from "./updates/known-content.ts";

/** Folds updates, and ages history before `keptFrom` (epoch ms). Returns the number of first parts that stay. */
export function foldDocument(
  name: string,
  loaded: LoadedDocuments,
  storage: RoomStorage,
  keptFrom: number,
): number {
  const { documents: table, versions } = storage;
  const document = loaded.get(name);
  const { row, known, seq, aged } = document;
  if (row === null) return 0;
  const updates = table.listUpdates(row.id, row.foldedSeq);
  const ends = new Set(versions.listSeqs(row.id, row.foldedSeq));
  const plan = planFold(row.partBytes, updates, ends, (part) => table.readPart(row.id, part));
  const folded = loaded.attempt(name, () => {
    for (let part = plan.kept; part < row.partBytes.length; part += 1) table.deletePart(row.id, part);
    for (const [index, data] of plan.parts.entries()) table.writePart(row.id, plan.kept + index, data);
    if (updates.length > 0) table.writePart(row.id, KNOWN_PART, known.encode());
    if (plan.history.length < updates.length) {
      table.deleteUpdates(row.id, row.foldedSeq + 1, seq);
      for (const update of plan.history) table.appendUpdate(row.id, update);
    }
    const old = age(storage, row.id, { keptFrom, upTo: seq, from: aged });
    const changed: StoredDocument = {
      ...row,
      foldedSeq: seq,
      partBytes: [...row.partBytes.slice(0, plan.kept), ...plan.parts.map(({ length }) => length)],
      trailBytes: row.trailBytes + sumOf(plan.history.map(({ data }) => data.length)) - old.freed,
    };
    if (updates.length > 0 || old.freed !== 0) table.update(changed);
    return { row: changed, aged: old.aged, unversioned: findUnversioned(storage, row.id) };
  });
  loaded.replace(name, { ...folded, known, seq, tailUpdates: 0, tailBytes: 0, weight: null });
  return plan.kept;
}

interface FoldPlan {
  /** The number of first parts that stay; `parts` replace the others. */
  readonly kept: number;
  readonly parts: readonly Uint8Array[];
  /** The updates, joined by author and minute. */
  readonly history: readonly StoredUpdate[];
}

/** Plans the parts so that each byte is merged a few times only: a part has at most half of the bytes of the one before. */
function planFold(
  partBytes: readonly number[],
  updates: readonly StoredUpdate[],
  ends: ReadonlySet<number>,
  readPart: (part: number) => Uint8Array,
): FoldPlan {
  let kept = partBytes.length;
  if (updates.length === 0) return { kept, parts: [], history: [] };
  const merging: Uint8Array[] = updates.map(({ data }) => data);
  let bytes = merging.reduce((sum, { length }) => sum + length, 0);
  for (; kept > 0; kept -= 1) {
    const last = partBytes[kept - 1] ?? 0;
    const isSmall = last < DOCUMENT_LIMITS.minPartBytes || last < 2 * bytes;
    if (!isSmall || last + bytes > DOCUMENT_LIMITS.partBytes) break;
    merging.unshift(readPart(kept - 1));
    bytes += last;
  }
  return { kept, parts: mergeGroups(merging), history: foldEditHistory(updates, ends) };
}

/** Merges updates into as few parts as they fit, without deleted content: the edit history has it. */
function mergeGroups(updates: readonly Uint8Array[]): Uint8Array[] {
  const groups: Uint8Array[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const update of updates) {
    bytes += update.length;
    if (bytes <= DOCUMENT_LIMITS.partBytes) groups.at(-1)?.push(update);
    else {
      groups.push([update]);
      bytes = update.length;
    }
  }
  return groups.flatMap((group) => [...mergeWhole(group, "dropped")]);
}

/** A horizon of whole days joins the same entries once a day at most. */
const DAY_MS = 24 * 60 * 60 * 1000;

type Aged = NonNullable<LoadedDocument["aged"]>;

interface Aging {
  readonly keptFrom: number;
  /** The last update whose history ages. */
  readonly upTo: number;
  readonly from: Aged | null;
}

interface AgingProgress {
  readonly aged: Aged;
  /** Bytes that became free. */
  readonly freed: number;
}

/** A bounded piece of aging: unnamed versions go, and entries between two versions are joined. */
function age(storage: RoomStorage, documentId: number, { keptFrom, upTo, from }: Aging): AgingProgress {
  const horizon = Math.floor(keptFrom / DAY_MS) * DAY_MS;
  const after = from?.horizon === horizon ? from.seq : 0;
  if (after === Number.POSITIVE_INFINITY) return { aged: { horizon, seq: after }, freed: 0 };
  // A version shows the document until it was made, right before the next update: its age counts from then.
  const dropped = storage.versions.listUnnamed(documentId, horizon, DOCUMENT_LIMITS.agedVersions);
  deleteVersions(storage, documentId, dropped);
  if (dropped.length === DOCUMENT_LIMITS.agedVersions) return { aged: { horizon, seq: 0 }, freed: 0 };
  return joinEntries(storage, documentId, { horizon, seq: after }, upTo);
}

function joinEntries(
  { documents, versions }: RoomStorage,
  documentId: number,
  { horizon, seq: after }: Aged,
  upTo: number,
): AgingProgress {
  const entries = documents.listEntries(documentId, { after, upTo, limit: DOCUMENT_LIMITS.agedEntries });
  const young = entries.findIndex(({ at }) => at >= horizon);
  const old = young < 0 ? entries : entries.slice(0, young);
  const ends = new Set(versions.listSeqs(documentId, after));
  let [seq, freed, bytes] = [after, 0, 0];
  for (const stretch of stretchesOf(old, ends, bytesOfEntry, () => true)) {
    if (bytes >= DOCUMENT_LIMITS.partBytes) return { aged: { horizon, seq }, freed };
    const last = stretch.at(-1) ?? stretch[0];
    if (stretch.length > 1) {
      freed += joinStretch(documents, documentId, stretch, last.seq);
      bytes += sumOfBytes(stretch);
    }
    seq = last.seq;
  }
  const isLast = old.length < DOCUMENT_LIMITS.agedEntries;
  return { aged: { horizon, seq: isLast ? Number.POSITIVE_INFINITY : seq }, freed };
}

/** Joins entries, without content that came and went between two versions. Returns the bytes that became free. */
function joinStretch(
  documents: RoomStorage["documents"],
  documentId: number,
  stretch: Stretch<TrailEntry>,
  lastSeq: number,
): number {
  const [first, ...others] = documents.listUpdates(documentId, stretch[0].seq - 1, lastSeq);
  if (first === undefined) return 0;
  const [joined, ...rest] = joinUpdates([first, ...others], "dropped");
  if (joined === undefined || rest.length > 0) return 0;
  documents.deleteUpdates(documentId, first.seq, lastSeq);
  documents.appendUpdate(documentId, joined);
  return sumOfBytes(stretch) - joined.data.length;
}

type Written = Omit<TrailEntry, "bytes">;

/** Joins updates of one author within a minute, except across `ends`, the numbers of versions. */
const foldEditHistory = (updates: readonly StoredUpdate[], ends: ReadonlySet<number>): StoredUpdate[] =>
  stretchesOf(updates, ends, ({ data }) => data.length, isOneMinute).flatMap((stretch) =>
    joinUpdates(stretch, "kept"),
  );

/** Joins updates, unless an operation were lost: then they stay as they are. `deleted` as for {@link mergeWhole}. */
function joinUpdates(stretch: Stretch<StoredUpdate>, deleted: Deleted): StoredUpdate[] {
  if (stretch.length === 1) return stretch;
  const updates = stretch.map(({ data }) => data);
  const [data, ...others] = mergeWhole(updates, deleted);
  return data === undefined || others.length > 0 ? stretch : [{ ...joined(stretch), data }];
}

/** Joins entries as {@link foldEditHistory} joins updates, oldest first. */
export const foldHistoryEntries = (entries: readonly TrailEntry[], ends: ReadonlySet<number>): TrailEntry[] =>
  stretchesOf(entries, ends, bytesOfEntry, isOneMinute).map((stretch) => ({
    ...joined(stretch),
    bytes: sumOfBytes(stretch),
  }));

const bytesOfEntry = ({ bytes }: TrailEntry): number => bytes;

export const sumOfBytes = (entries: readonly TrailEntry[]): number =>
  entries.reduce((sum, { bytes }) => sum + bytes, 0);

/** Items that become one. */
type Stretch<Item> = [first: Item, ...others: Item[]];

/** Groups items that belong together, between two of the `ends`, up to the size of a part. */
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
      bytes <= DOCUMENT_LIMITS.partBytes;
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
    authors: distinctAuthors([first, ...others].flatMap(({ authors }) => authors)).slice(
      0,
      DOCUMENT_LIMITS.authors,
    ),
  };
}

/** Tells whether one author wrote both within a minute. */
const isOneMinute = (first: Written, item: Written): boolean =>
  item.at - first.firstAt < DOCUMENT_LIMITS.historyStretchMs &&
  distinctAuthors([...first.authors, ...item.authors]).length === 1;
