/** The edit history and the versions of a room's documents. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import { AppError, notFound } from "@atrium/contract/errors.ts";
import type { DocumentReports } from "../engine/outbox/delayed-events.ts";
import type { StoredDocument } from "../storage/sqlite-documents.ts";
import type { RoomStorage } from "../storage/storage.ts";
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
import type { RoomDocuments } from "./documents.ts";
import { foldHistoryEntries, sumOfBytes } from "./folding.ts";
import { deleteVersions, makeVersion, nameVersion } from "./history/versions.ts";
import { mergeWhole } from "./updates/known-content.ts";

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
  readonly #documents: RoomDocuments;
  readonly #events: HistoryPorts["events"];

  constructor(ports: HistoryPorts, documents: RoomDocuments) {
    this.#storage = ports.storage;
    this.#now = () => ports.now();
    this.#documents = documents;
    this.#events = ports.events;
  }

  get #table(): RoomStorage["documents"] {
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
    return this.#table.findTail(documentId)?.updates ?? 0;
  }

  versions(name: string, page: HistoryPage): VersionInfo[] | null {
    const row = this.#table.find(name);
    return row && this.#storage.versions.list(row.id, page);
  }

  /** Reads a version part by part; null for none. Folding meanwhile only repeats updates. */
  read(name: string, seq: number, { documentId, afterSeq }: VersionPosition): VersionPart | null {
    const row = this.#table.find(name);
    const isOther = documentId !== null && documentId !== row?.id;
    if (row === null || isOther || this.#storage.versions.find(row.id, seq) === null) return null;
    const entries = this.#table.listEntries(row.id, { after: afterSeq, upTo: seq, limit: PART_ENTRIES });
    const upTo = entries[countFitting(entries) - 1]?.seq ?? seq;
    const updates = this.#table.listUpdates(row.id, afterSeq, upTo).map(({ data }) => data);
    const next = upTo >= seq ? null : { documentId: row.id, afterSeq: upTo };
    return { updates: updates.length === 0 ? [] : mergeWhole(updates, "kept"), next };
  }

  /** Reads the updates between two versions (0: the start), with authors. NOT_FOUND, or CONFLICT when they are too large. */
  written(name: string, { after, upTo, documentId, startsAtVersion = true }: WrittenRange): AuthoredUpdate[] {
    const row = this.#table.find(name);
    if (row === null || (documentId ?? row.id) !== row.id) throw notFound("Rooms", "Document");
    for (const seq of [startsAtVersion ? after : null, upTo])
      if (seq !== null && seq > 0 && this.#storage.versions.find(row.id, seq) === null)
        throw notFound("Rooms", "Version");
    const range = {
      after,
      upTo: upTo ?? Number.MAX_SAFE_INTEGER,
      limit: DOCUMENT_LIMITS.comparedEntries + 1,
    };
    const entries = this.#table.listEntries(row.id, range);
    if (
      entries.length > DOCUMENT_LIMITS.comparedEntries ||
      sumOfBytes(entries) > DOCUMENT_LIMITS.comparedBytes
    )
      throw tooMuch();
    return this.#table.listUpdates(row.id, after, range.upTo).map(({ seq, updates, authors, data }) => ({
      seq,
      // A single update has several authors if it was suggested, and the first one wrote it.
      authors: updates === 1 ? authors.slice(0, 1) : authors,
      data,
    }));
  }

  /** Creates, renames or deletes a version. NOT_FOUND for an unknown one, CONFLICT for a named point or too many names. */
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
      const version = makeVersion(this.#storage, row.id, this.#table.lastSeq(row.id), this.#now());
      if (version.name !== null) throw alreadyNamed(version.name);
      this.#events.versionCreated(row.name, version.seq, change.name);
      return nameVersion(this.#storage, row.id, version, change.name, change.by);
    }
    const version = this.#storage.versions.find(row.id, change.seq);
    if (version === null) throw notFound("Rooms", "Version");
    if (change.type === "rename") return nameVersion(this.#storage, row.id, version, change.name, change.by);
    deleteVersions(this.#storage, row.id, [version]);
    return version;
  }
}

const tooMuch = () =>
  new AppError(
    "Rooms",
    "CONFLICT",
    `What was written between the versions has more than ${DOCUMENT_LIMITS.comparedBytes} bytes or ${DOCUMENT_LIMITS.comparedEntries} entries of the trail: choose closer ones`,
  );

const alreadyNamed = (name: string) =>
  new AppError("Rooms", "CONFLICT", `Nothing has changed since version "${name}": rename that one instead`);

function countFitting(entries: readonly TrailEntry[]): number {
  let total = 0;
  const end = entries.findIndex(({ bytes }) => {
    total += bytes;
    return total > DOCUMENT_LIMITS.partBytes;
  });
  return end < 0 ? entries.length : Math.max(1, end);
}
