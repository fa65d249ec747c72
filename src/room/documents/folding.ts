/** Folds a document's updates into its parts and its history, in one transaction. */
import type { RoomStorage } from "../storage/storage.ts";
import type { StoredDocument, StoredUpdate } from "../storage/storage-documents.ts";
import { foldEditHistory } from "./history/edit-history.ts";
import type { Retention } from "./history/retention.ts";
import { Versions } from "./history/versions.ts";
import { KNOWN_PART, type LoadedDocuments, sumOf } from "./loaded-documents.ts";
import { MAX_PART_BYTES, MIN_PART_BYTES } from "./updates/limits.ts";
import { mergeWhole } from "./updates/merge.ts";

/** Clients receive the same as before. Returns the number of first parts that stay as they are. */
export function foldDocument(
  name: string,
  loaded: LoadedDocuments,
  storage: RoomStorage,
  retention: Retention,
): number {
  const { documents: table, versions } = storage;
  const { row, known, seq, aged } = loaded.get(name);
  if (row === null) return 0;
  const updates = table.listUpdates(row.id, row.foldedSeq);
  const [first] = updates;
  if (first === undefined) {
    ageDocument(name, row, loaded, storage, retention);
    return row.partBytes.length;
  }
  const ends = new Set(versions.listSeqs(row.id, row.foldedSeq));
  const plan = planFold(row.partBytes, updates, ends, (part) => table.readPart(row.id, part));
  const folded = loaded.attempt(name, () => {
    for (let part = plan.kept; part < row.partBytes.length; part += 1) table.deletePart(row.id, part);
    for (const [index, data] of plan.parts.entries()) table.writePart(row.id, plan.kept + index, data);
    table.writePart(row.id, KNOWN_PART, known.encode());
    if (plan.history.length < updates.length) {
      table.deleteUpdates(row.id, first.seq, seq);
      for (const update of plan.history) table.appendUpdate(row.id, update);
    }
    const old = retention.age(row.id, seq, aged);
    const document: StoredDocument = {
      ...row,
      foldedSeq: seq,
      partBytes: [...row.partBytes.slice(0, plan.kept), ...plan.parts.map(({ length }) => length)],
      trailBytes: row.trailBytes + sumOf(plan.history.map(({ data }) => data.length)) - old.freed,
    };
    table.update(document);
    return { row: document, aged: old.aged, unversioned: new Versions(storage).unversioned(row.id) };
  });
  loaded.replace(name, { ...folded, known, seq, tailUpdates: 0, tailBytes: 0 });
  return plan.kept;
}

/** Ages the history of a document that has nothing to fold. */
function ageDocument(
  name: string,
  row: StoredDocument,
  loaded: LoadedDocuments,
  storage: RoomStorage,
  retention: Retention,
): void {
  const document = loaded.get(name);
  const aged = loaded.attempt(name, () => {
    const old = retention.age(row.id, document.seq, document.aged);
    const trailBytes = row.trailBytes - old.freed;
    if (old.freed !== 0) storage.documents.update({ ...row, trailBytes });
    const unversioned = new Versions(storage).unversioned(row.id);
    return { row: { ...row, trailBytes }, aged: old.aged, unversioned };
  });
  loaded.replace(name, { ...document, ...aged });
}

interface FoldPlan {
  /** The number of first parts that stay; `parts` replace the others. */
  readonly kept: number;
  readonly parts: readonly Uint8Array[];
  /** The updates, joined by author and minute. */
  readonly history: readonly StoredUpdate[];
}

/**
 * Plans the parts so that each byte is merged a few times only: a part has at most half of the bytes of the one
 * before. `ends` are the numbers of versions, as for {@link foldEditHistory}.
 */
function planFold(
  partBytes: readonly number[],
  updates: readonly StoredUpdate[],
  ends: ReadonlySet<number>,
  readPart: (part: number) => Uint8Array,
): FoldPlan {
  let kept = partBytes.length;
  const merging: Uint8Array[] = updates.map(({ data }) => data);
  let bytes = merging.reduce((sum, { length }) => sum + length, 0);
  for (; kept > 0; kept -= 1) {
    const last = partBytes[kept - 1] ?? 0;
    const isSmall = last < MIN_PART_BYTES || last < 2 * bytes;
    if (!isSmall || last + bytes > MAX_PART_BYTES) break;
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
    if (bytes <= MAX_PART_BYTES) groups.at(-1)?.push(update);
    else {
      groups.push([update]);
      bytes = update.length;
    }
  }
  return groups.flatMap((group) => [...mergeWhole(group, "dropped")]);
}
