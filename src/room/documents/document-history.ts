/** The edit history and the versions of a room's documents. */
import { AppError, notFound } from "../../platform/errors.ts";
import type { DocumentReports } from "../engine/outbox/delayed-events.ts";
import type { RoomStorage } from "../storage/storage.ts";
import type { DocumentTable, StoredDocument } from "../storage/storage-documents.ts";
import type {
  AuthoredUpdate,
  HistoryPage,
  TrailEntry,
  VersionChange,
  VersionInfo,
  VersionPart,
  VersionPosition,
  WrittenRange,
} from "../types/documents.ts";
import type { Documents } from "./documents.ts";
import { foldHistoryEntries, sumOfBytes } from "./history/edit-history.ts";
import { Versions } from "./history/versions.ts";
import { MAX_COMPARED_BYTES, MAX_COMPARED_ENTRIES, MAX_PART_BYTES } from "./updates/limits.ts";
import { mergeWhole } from "./updates/merge.ts";

/** History entries that one part of a version is read from. */
const PART_ENTRIES = 2_000;

interface HistoryPorts {
  readonly storage: RoomStorage;
  now(): number;
  readonly events: Pick<DocumentReports, "versionCreated">;
}

export class DocumentHistory {
  readonly #storage: RoomStorage;
  readonly #now: () => number;
  readonly #documents: Documents;
  readonly #events: HistoryPorts["events"];
  readonly #versions: Versions;

  constructor(ports: HistoryPorts, documents: Documents) {
    this.#storage = ports.storage;
    this.#now = () => ports.now();
    this.#documents = documents;
    this.#events = ports.events;
    this.#versions = new Versions(ports.storage);
  }

  get #table(): DocumentTable {
    return this.#storage.documents;
  }

  /** Lists the edit history, newest first; null when there is no such document. */
  trail(name: string, { before, limit }: HistoryPage): TrailEntry[] | null {
    const row = this.#table.find(name);
    if (row === null) return null;
    const entries = this.#table.listTrail(row.id, { before, limit: limit + this.#unfolded(row.id) });
    const isTail = ({ seq }: TrailEntry): boolean => seq > row.foldedSeq;
    const ends = new Set(this.#storage.versions.listSeqs(row.id, row.foldedSeq));
    const tail = foldHistoryEntries(entries.filter(isTail).reverse(), ends).reverse();
    return [...tail, ...entries.filter((entry) => !isTail(entry))].slice(0, limit);
  }

  /** Unfolded updates, which appear as if they were folded. */
  #unfolded(documentId: number): number {
    return this.#table.tails(documentId)[0]?.updates ?? 0;
  }

  /** Lists the versions, newest first; null when there is no such document. */
  versions(name: string, page: HistoryPage): VersionInfo[] | null {
    const row = this.#table.find(name);
    return row && this.#storage.versions.list(row.id, page);
  }

  /**
   * Reads the updates of a version part by part, from a position on. Folding moves no update across a version, so
   * updates that were folded meanwhile are only repeated. Null when there is no such version.
   */
  read(name: string, seq: number, { documentId, afterSeq }: VersionPosition): VersionPart | null {
    const row = this.#table.find(name);
    const isOther = documentId !== null && documentId !== row?.id;
    if (row === null || isOther || this.#storage.versions.find(row.id, seq) === null) return null;
    const entries = this.#table.listStretches(row.id, { after: afterSeq, upTo: seq, limit: PART_ENTRIES });
    const upTo = entries[countFitting(entries) - 1]?.seq ?? seq;
    const updates = this.#table.listUpdates(row.id, afterSeq, upTo).map(({ data }) => data);
    const next = upTo >= seq ? null : { documentId: row.id, afterSeq: upTo };
    return { updates: updates.length === 0 ? [] : mergeWhole(updates, "kept"), next };
  }

  /**
   * Reads the updates after one version (0: from the start) and up to another, with their authors. NOT_FOUND when
   * there is no such document or version, CONFLICT when they are too large.
   */
  written(name: string, { after, upTo, documentId }: WrittenRange): AuthoredUpdate[] {
    const row = this.#table.find(name);
    if (row === null || (documentId ?? row.id) !== row.id) throw notFound("Rooms", "Document");
    for (const seq of [after, upTo])
      if (seq !== null && seq > 0 && this.#storage.versions.find(row.id, seq) === null)
        throw notFound("Rooms", "Version");
    const range = { after, upTo: upTo ?? Number.MAX_SAFE_INTEGER, limit: MAX_COMPARED_ENTRIES + 1 };
    const entries = this.#table.listStretches(row.id, range);
    if (entries.length > MAX_COMPARED_ENTRIES || sumOfBytes(entries) > MAX_COMPARED_BYTES) throw tooMuch();
    return this.#table
      .listUpdates(row.id, after, range.upTo)
      .map(({ seq, authors, data }) => ({ seq, authors, data }));
  }

  /**
   * Creates, renames or deletes a version, and returns it. NOT_FOUND when there is no such document or version,
   * CONFLICT when the point has a name already, or too many versions have one.
   */
  change(name: string, change: VersionChange): VersionInfo {
    const row = this.#table.find(name);
    if (row === null) throw notFound("Rooms", "Document");
    const changed = this.#storage.transaction(() => this.#change(row, change));
    // Loading it again finds the latest version, on which the next one depends.
    this.#documents.release(name);
    return changed;
  }

  #change(row: StoredDocument, change: VersionChange): VersionInfo {
    if (change.type === "create") {
      const version = this.#versions.make(row.id, this.#table.lastSeq(row.id), this.#now());
      if (version.name !== null) throw alreadyNamed(version.name);
      this.#events.versionCreated(row.name, version.seq, change.name);
      return this.#versions.name(row.id, version, change.name, change.by);
    }
    const version = this.#storage.versions.find(row.id, change.seq);
    if (version === null) throw notFound("Rooms", "Version");
    if (change.type === "rename") return this.#versions.name(row.id, version, change.name, change.by);
    this.#versions.delete(row.id, [version]);
    return version;
  }
}

const tooMuch = () =>
  new AppError(
    "Rooms",
    "CONFLICT",
    `What was written between the versions has more than ${MAX_COMPARED_BYTES} bytes or ${MAX_COMPARED_ENTRIES} entries of the trail: choose closer ones`,
  );

const alreadyNamed = (name: string) =>
  new AppError("Rooms", "CONFLICT", `Nothing has changed since version "${name}": rename that one instead`);

/** The number of entries that fit into memory at once; at least one. */
function countFitting(entries: readonly TrailEntry[]): number {
  let total = 0;
  const end = entries.findIndex(({ bytes }) => {
    total += bytes;
    return total > MAX_PART_BYTES;
  });
  return end < 0 ? entries.length : Math.max(1, end);
}
