/** Events that a room records some time after what they report, together, and only while a subscriber listens to them. */
import { type EventDraft, type EventName, presentEvent } from "../../../wire/events.ts";
import { presentRoom, type RoomFields } from "../../../wire/room.ts";
import type { ChangedStore, DocumentEventName, DocumentNote } from "../../storage/sqlite-outbox.ts";
import type { EventPorts } from "./room-events.ts";

/** While no subscriber listens, the room looks for one so rarely: the first event of a new one may be so late. */
export const UNHEARD_INTERVAL_MS = 60_000;

/** Which events, and how they are noted in storage until they are recorded. */
interface NotedEvents {
  readonly events: readonly EventName[];
  /** How often they are recorded at most. */
  readonly intervalMs: number;
  /** Whether storage has notes. */
  hasNotes(): boolean;
  /** Grows with each thing that is noted, also with one that storage has a note of already. */
  progress(): number;
  /** Records the events to which a subscriber listens, and deletes their notes; within a transaction. */
  record(heard: ReadonlySet<EventName>, room: RoomFields): void;
  /** Deletes all notes. */
  forget(): void;
}

export class DelayedEvents {
  readonly #ports: EventPorts;
  readonly #noted: NotedEvents;
  /** When the notes so far are to be recorded (epoch ms); null while there are none. */
  #dueAt: number | null;
  #notBefore = Number.NEGATIVE_INFINITY;
  #hasNews = false;
  /** Of a room that only REST has used: kept with the first note, because an alarm does not say which room it is. */
  #row: RoomFields | null = null;

  constructor(ports: EventPorts, noted: NotedEvents) {
    this.#ports = ports;
    this.#noted = noted;
    // What an earlier life of the object has noted is due at once.
    this.#dueAt = noted.hasNotes() ? ports.now() : null;
  }

  /** The row of a room that no one has joined, as just read. */
  offerRow(row: RoomFields): void {
    this.#row = row;
  }

  /** Something was noted, in the transaction that is running. */
  noted(): void {
    const { storage, now } = this.#ports;
    if (this.#dueAt === null) {
      this.#dueAt = Math.max(now() + this.#noted.intervalMs, this.#notBefore);
      this.#hasNews = true;
    }
    if (this.#row === null) return;
    if (storage.occupancy.readRoom() === null) storage.occupancy.writeRoom(this.#row);
    this.#row = null; // should this transaction fail, it is offered again
  }

  /** True once after notes have become due, so that the alarm can be planned. */
  takeNews(): boolean {
    const hadNews = this.#hasNews;
    this.#hasNews = false;
    return hadNews;
  }

  /** When to call {@link report} (epoch ms); null while nothing is noted. */
  dueAt(): number | null {
    return this.#dueAt;
  }

  /**
   * Records what is due if a subscriber listens, and drops it if none does. Rejects when `isHeard` or `prepare`, which
   * brings the row of a room that no one has joined, fails: then all of it is due again after an interval.
   */
  async report(isHeard: (event: EventName) => Promise<boolean>, prepare: () => Promise<void>): Promise<void> {
    const { storage, now } = this.#ports;
    if (this.#dueAt === null || this.#dueAt > now()) return;
    this.#waitFor(this.#noted.intervalMs);
    const progress = this.#noted.progress();
    const { events } = this.#noted;
    const answers = await Promise.all(events.map((event) => isHeard(event)));
    const heard = new Set(events.filter((_, index) => answers[index]));
    if (heard.size === 0) this.#waitFor(UNHEARD_INTERVAL_MS);
    else await prepare();
    storage.transaction(() => {
      const room = storage.occupancy.readRoom();
      if (heard.size > 0 && room !== null) this.#noted.record(heard, room);
      // What was noted meanwhile may have happened after a subscriber began to listen.
      if (this.#noted.progress() === progress || room === null) this.#noted.forget();
    });
    if (!this.#noted.hasNotes()) this.#dueAt = null;
  }

  /** Nothing is recorded before this time from now. */
  #waitFor(ms: number): void {
    this.#notBefore = this.#ports.now() + ms;
    this.#dueAt = this.#notBefore;
  }

  /** The room is erased: nothing of it is due any more. */
  reset(): void {
    this.#dueAt = null;
    this.#hasNews = false;
    this.#row = null;
  }
}

/** Each store has at most one event in this time. */
export const STORE_EVENT_INTERVAL_MS = 5_000;

export class StoreEvents extends DelayedEvents {
  readonly #ports: EventPorts;

  constructor(ports: EventPorts) {
    super(ports, new NotedStores(ports));
    this.#ports = ports;
  }

  /** Notes stores that have changed since `fromSeq`, in the transaction that changes them. */
  note(stores: Iterable<string>, fromSeq: number): void {
    const { changedStores } = this.#ports.storage;
    const cause = this.#ports.cause();
    for (const store of stores) {
      changedStores.note({ store, fromSeq, cause });
      this.noted();
    }
  }
}

class NotedStores implements NotedEvents {
  readonly events = ["store.changed"] as const;
  readonly intervalMs = STORE_EVENT_INTERVAL_MS;
  readonly #ports: EventPorts;

  constructor(ports: EventPorts) {
    this.#ports = ports;
  }

  hasNotes(): boolean {
    return this.#ports.storage.changedStores.list().length > 0;
  }

  progress(): number {
    return this.#ports.storage.changes.lastSeq();
  }

  record(_: unknown, room: RoomFields): void {
    for (const changed of this.#ports.storage.changedStores.list()) this.#append(changed, room);
    this.forget();
  }

  #append({ store, fromSeq, cause }: ChangedStore, row: RoomFields): void {
    const { storage, now, newId, stats } = this.#ports;
    const [id, occurredAt, toSeq] = [newId(), now(), storage.changes.lastSeq()];
    const event = "store.changed";
    const data = { roomId: row.id, store, fromSeq, toSeq };
    const body = presentEvent(
      id,
      occurredAt,
      { event, data, room: presentRoom(row, occurredAt, stats()) },
      cause,
    );
    storage.events.append({ id, event, occurredAt, body });
  }

  forget(): void {
    if (this.hasNotes()) this.#ports.storage.changedStores.clear();
  }
}

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
