/** The versions of a room's documents in memory. */

import type { VersionTable } from "../../../src/room/storage/storage-documents.ts";
import type { HistoryPage, VersionInfo } from "../../../src/room/types/documents.ts";
import { MemoryPart } from "./memory-part.ts";

interface Row {
  readonly documentId: number;
  readonly version: VersionInfo;
}

/** In the order of their numbers. */
export class MemoryVersions extends MemoryPart<readonly Row[]> implements VersionTable {
  constructor() {
    super([]);
  }

  #of(id: number): VersionInfo[] {
    return this.state.filter(({ documentId }) => documentId === id).map(({ version }) => version);
  }

  find(documentId: number, seq: number): VersionInfo | null {
    return this.#of(documentId).find((version) => version.seq === seq) ?? null;
  }

  list(documentId: number, { before, limit }: HistoryPage): VersionInfo[] {
    return this.#of(documentId)
      .filter(({ seq }) => seq < before)
      .reverse()
      .slice(0, limit);
  }

  listSeqs(documentId: number, afterSeq: number): number[] {
    return this.#of(documentId).flatMap(({ seq }) => (seq > afterSeq ? [seq] : []));
  }

  findNext(documentId: number, afterSeq: number): VersionInfo | null {
    return this.#of(documentId).find(({ seq }) => seq > afterSeq) ?? null;
  }

  listUnnamed(documentId: number, madeBefore: number, limit: number): VersionInfo[] {
    return this.#of(documentId)
      .filter(({ name, createdAt }) => name === null && createdAt < madeBefore)
      .slice(0, limit);
  }

  count(documentId: number): number {
    return this.#of(documentId).length;
  }

  countNamed(documentId: number): number {
    return this.#of(documentId).filter(({ name }) => name !== null).length;
  }

  put(documentId: number, version: VersionInfo): void {
    this.delete(documentId, version.seq);
    this.state = [...this.state, { documentId, version }].sort(
      (one, other) => one.version.seq - other.version.seq,
    );
  }

  delete(documentId: number, seq: number): void {
    this.state = this.state.filter((row) => row.documentId !== documentId || row.version.seq !== seq);
  }

  deleteAll(documentId: number): void {
    this.state = this.state.filter((row) => row.documentId !== documentId);
  }
}
