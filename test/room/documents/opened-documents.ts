/** A room's documents without their room: they cost nothing, and only the test moves their clock. */
import { DocumentHistory } from "../../../src/room/documents/document-history.ts";
import { RoomDocuments } from "../../../src/room/documents/documents.ts";
import type { RoomStorage } from "../../../src/room/storage/storage.ts";

/** A quota that is never used up, and events that no one listens to. */
export const FREE = {
  quota: { require: () => undefined, changed: () => undefined },
  events: { created: () => {}, updated: () => {}, deleted: () => {}, versionCreated: () => {} },
  trailKeptMs: 30 * 24 * 60 * 60 * 1000,
};

/** Every entry or version of a history. */
export const ALL = { before: Number.MAX_SAFE_INTEGER, limit: 10_000 };

export function openDocuments(storage: RoomStorage, now = 1_000_000) {
  const clock = { now };
  const ports = { ...FREE, storage, now: () => clock.now };
  const documents = new RoomDocuments(ports);
  const history = new DocumentHistory(ports, documents);
  /** The updates of a version, read a few at a time; null when there is no such version. */
  const read = (name: string, seq: number): Uint8Array[] | null => {
    const updates: Uint8Array[] = [];
    for (let from = { documentId: null as number | null, afterSeq: 0 }; ; ) {
      const part = history.read(name, seq, from);
      if (part === null) return null;
      updates.push(...part.updates);
      if (part.next === null) return updates;
      from = part.next;
    }
  };
  return { clock, documents, history, read };
}
