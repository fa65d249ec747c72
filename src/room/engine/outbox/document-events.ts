/** Records what happens to documents and their versions as events, while a subscriber listens to them. */
import { type EventDraft, presentEvent } from "../../../wire/events.ts";
import { presentRoom, type RoomFields } from "../../../wire/room.ts";
import type { DocumentEventName, DocumentNote } from "../../storage/storage-outbox.ts";
import { DelayedEvents, type NotedEvents } from "./delayed-events.ts";
import type { EventPorts } from "./event-ports.ts";

/** Each document has at most one `document.updated` in this time. */
export const DOCUMENT_EVENT_INTERVAL_MS = 10_000;

/** What documents report, each in the transaction of its change. */
export interface DocumentReports {
  created(document: string): void;
  /** By the update with this number, which is not the first. */
  updated(document: string, seq: number): void;
  deleted(document: string): void;
  /** A version was made, or someone has named the document as it is. */
  versionCreated(document: string, version: number, name: string | null): void;
}

export class DocumentEvents extends DelayedEvents implements DocumentReports {
  readonly #ports: EventPorts;
  readonly #notes: NotedDocuments;

  constructor(ports: EventPorts) {
    const notes = new NotedDocuments(ports);
    super(ports, notes);
    this.#ports = ports;
    this.#notes = notes;
  }

  created(document: string): void {
    this.#note({ event: "document.created", document, seq: 1, name: null });
  }

  updated(document: string, seq: number): void {
    this.#note({ event: "document.updated", document, seq, name: null });
  }

  /** Stands for its updates that no event has reported yet. */
  deleted(document: string): void {
    this.#ports.storage.documentNotes.deleteUpdate(document);
    this.#note({ event: "document.deleted", document, seq: 0, name: null });
  }

  versionCreated(document: string, version: number, name: string | null): void {
    this.#note({ event: "version.created", document, seq: version, name });
  }

  #note(note: Omit<DocumentNote, "position">): void {
    this.#ports.storage.documentNotes.note(note);
    this.#notes.count += 1;
    this.noted();
  }
}

class NotedDocuments implements NotedEvents {
  readonly events = ["document.created", "document.updated", "document.deleted", "version.created"] as const;
  readonly intervalMs = DOCUMENT_EVENT_INTERVAL_MS;
  count = 0;
  readonly #ports: EventPorts;

  constructor(ports: EventPorts) {
    this.#ports = ports;
  }

  hasNotes(): boolean {
    return this.#ports.storage.documentNotes.list().length > 0;
  }

  progress(): number {
    return this.count;
  }

  record(heard: ReadonlySet<string>, room: RoomFields): void {
    const { documentNotes } = this.#ports.storage;
    for (const note of documentNotes.list()) {
      if (!heard.has(note.event)) continue;
      this.#append(note, room);
      documentNotes.delete(note.position);
    }
  }

  #append(note: DocumentNote, row: RoomFields): void {
    const { storage, now, newId, stats } = this.#ports;
    const [id, occurredAt] = [newId(), now()];
    const room = presentRoom(row, occurredAt, stats());
    const draft = { ...this.#draftOf(note, row.id), room };
    storage.events.append({ id, event: note.event, occurredAt, body: presentEvent(id, occurredAt, draft) });
  }

  #draftOf({ event, document, seq, name }: DocumentNote, roomId: string): DocumentDraft {
    switch (event) {
      case "document.created":
      case "document.deleted":
        return { event, data: { roomId, document } };
      case "document.updated":
        return { event, data: { roomId, document, fromSeq: seq, toSeq: this.#lastSeq(document, seq) } };
      case "version.created":
        return { event, data: { roomId, document, version: seq, name } };
    }
  }

  #lastSeq(document: string, seq: number): number {
    const { documents } = this.#ports.storage;
    const row = documents.find(document);
    return row === null ? seq : documents.lastSeq(row.id);
  }

  forget(): void {
    if (this.hasNotes()) this.#ports.storage.documentNotes.clear();
  }
}

/** An event of documents, without what all events have. */
type DocumentDraft = WithoutRoom<Extract<EventDraft, { readonly event: DocumentEventName }>>;
type WithoutRoom<Draft> = Draft extends unknown ? Omit<Draft, "room"> : never;
