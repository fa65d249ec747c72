/** Folds a document's updates into its parts, and what its authors wrote into stretches of time, in one transaction. */
import type { RoomStorage } from "../storage/storage.ts";
import type { StoredDocument } from "../storage/storage-documents.ts";
import { planFold } from "./fold.ts";
import type { Retention } from "./history/retention.ts";
import { Versions } from "./history/versions.ts";
import { KNOWN_PART, type LoadedDocuments, sumOf } from "./loaded-documents.ts";

/** What clients are answered stays the same. Returns how many of the first parts stay as they are. */
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
    if (plan.trail.length < updates.length) {
      table.deleteUpdates(row.id, first.seq, seq);
      for (const update of plan.trail) table.appendUpdate(row.id, update);
    }
    const old = retention.age(row.id, seq, aged);
    const document: StoredDocument = {
      ...row,
      foldedSeq: seq,
      partBytes: [...row.partBytes.slice(0, plan.kept), ...plan.parts.map(({ length }) => length)],
      trailBytes: row.trailBytes + sumOf(plan.trail.map(({ data }) => data.length)) - old.freed,
    };
    table.update(document);
    return { row: document, aged: old.aged, unversioned: new Versions(storage).unversioned(row.id) };
  });
  loaded.replace(name, { ...folded, known, seq, tailUpdates: 0, tailBytes: 0 });
  return plan.kept;
}

/** Of a document that has nothing to fold, only the old history changes. */
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
