/** Events that a room records together after an interval, and only while a subscriber listens to them. */
import type { EventDraft, EventName } from "@atrium/contract/resources/events.ts";
import { presentRoom, type RoomFields } from "@atrium/contract/resources/room.ts";
import { suggestionIn } from "@atrium/contract/suggestion-limits.ts";
import type { DocumentEventName, DocumentNote } from "../../storage/sqlite-outbox.ts";
import { type EventPorts, recordEvent } from "./room-events.ts";

/**
 * Interval at which a room looks for subscribers while none listens. The first event of a new one may be this
 * late.
 */
const UNHEARD_INTERVAL_MS = 60_000;
/** Each store has at most one event in this time. */
const STORE_EVENT_INTERVAL_MS = 5_000;
/** Each document has at most one `document.updated` in this time. */
const DOCUMENT_EVENT_INTERVAL_MS = 10_000;

export abstract class DelayedEvents {
  protected readonly ports: EventPorts;
  protected abstract readonly events: readonly EventName[];
  protected abstract readonly intervalMs: number;
  /** When the notes so far are to be recorded (epoch ms); null while there are none. */
  #dueAt: number | null;
  #notBefore = Number.NEGATIVE_INFINITY;
  /** Grows with each note, also when storage has the same one already. */
  #noted = 0;
  /** The identity of a room that only REST has used: kept with the first note, because an alarm does not name its room. */
  #row: RoomFields | null = null;

  constructor(ports: EventPorts) {
    this.ports = ports;
    // Notes of an earlier life of the object are due at once.
    this.#dueAt = this.#hasNotes() ? ports.now() : null;
  }

  /** The notes in storage. */
  protected abstract notes(): { list(): readonly unknown[]; clear(): void };

  /** Records the events to which a subscriber listens, and deletes their notes; within a transaction. */
  protected abstract record(heard: ReadonlySet<EventName>, room: RoomFields): void;

  #hasNotes(): boolean {
    return this.notes().list().length > 0;
  }

  protected forget(): void {
    if (this.#hasNotes()) this.notes().clear();
  }

  /** The row of a room that no one has joined, as just read. */
  offerRow(row: RoomFields): void {
    this.#row = row;
  }

  /** A note was stored, in the transaction that is running. */
  protected noted(): void {
    const { storage, now, planAlarm } = this.ports;
    this.#noted += 1;
    if (this.#dueAt === null) {
      this.#dueAt = Math.max(now() + this.intervalMs, this.#notBefore);
      planAlarm();
    }
    if (this.#row === null) return;
    if (storage.occupancy.readRoom() === null) storage.occupancy.writeRoom(this.#row);
    this.#row = null; // should this transaction fail, it is offered again
  }

  /** When to call {@link report} (epoch ms); null while nothing is noted. */
  dueAt(): number | null {
    return this.#dueAt;
  }

  /**
   * Records due events if a subscriber listens, and drops them if none does. Rejects when `isHeard` or `prepare`, which
   * brings the row of a room that no one has joined, fails: then all are due again after an interval.
   */
  async report(isHeard: (event: EventName) => Promise<boolean>, prepare: () => Promise<void>): Promise<void> {
    const { storage, now } = this.ports;
    if (this.#dueAt === null || this.#dueAt > now()) return;
    this.#waitFor(this.intervalMs);
    const noted = this.#noted;
    const answers = await Promise.all(this.events.map((event) => isHeard(event)));
    const heard = new Set(this.events.filter((_, index) => answers[index]));
    if (heard.size === 0) this.#waitFor(UNHEARD_INTERVAL_MS);
    else await prepare();
    storage.transaction(() => {
      const room = storage.occupancy.readRoom();
      if (heard.size > 0 && room !== null) this.record(heard, room);
      // A note that was stored meanwhile may be of a time after a subscriber began to listen.
      if (this.#noted === noted || room === null) this.forget();
    });
    if (!this.#hasNotes()) this.#dueAt = null;
  }

  /** Records nothing for this many milliseconds. */
  #waitFor(ms: number): void {
    this.#notBefore = this.ports.now() + ms;
    this.#dueAt = this.#notBefore;
  }

  /** The room is erased. */
  reset(): void {
    this.#dueAt = null;
    this.#row = null;
  }
}

/** `store.changed`: one event for all changes of a store within an interval. */
export class StoreEvents extends DelayedEvents {
  protected readonly events = ["store.changed"] as const;
  protected readonly intervalMs = STORE_EVENT_INTERVAL_MS;

  protected notes() {
    return this.ports.storage.changedStores;
  }

  /** Notes stores that have changed since `fromSeq`, in the transaction that changes them. */
  note(stores: Iterable<string>, fromSeq: number): void {
    const cause = this.ports.cause();
    for (const store of stores) {
      this.notes().note({ store, fromSeq, cause });
      this.noted();
    }
  }

  protected record(_: unknown, row: RoomFields): void {
    const [at, toSeq] = [this.ports.now(), this.ports.storage.changes.lastSeq()];
    const room = presentRoom(row, at, this.ports.stats());
    for (const { store, fromSeq, cause } of this.notes().list()) {
      const data = { roomId: row.id, store, fromSeq, toSeq };
      recordEvent(this.ports, at, { event: "store.changed", data, room }, cause);
    }
    this.forget();
  }
}

/** The changes of documents that are reported, each in its transaction. */
export type DocumentReports = Pick<DocumentEvents, "created" | "updated" | "deleted" | "versionCreated">;

export class DocumentEvents extends DelayedEvents {
  protected readonly events = [
    "document.created",
    "document.updated",
    "document.deleted",
    "version.created",
  ] as const;
  protected readonly intervalMs = DOCUMENT_EVENT_INTERVAL_MS;

  protected notes() {
    return this.ports.storage.documentNotes;
  }

  created(document: string): void {
    this.#note({ event: "document.created", document, seq: 1, name: null });
  }

  /** Notes an update; `seq` is its number, 2 or higher. */
  updated(document: string, seq: number): void {
    this.#note({ event: "document.updated", document, seq, name: null });
  }

  /** Stands for the document's updates that no event has reported yet. */
  deleted(document: string): void {
    this.notes().deleteUpdate(document);
    this.#note({ event: "document.deleted", document, seq: 0, name: null });
  }

  /** A version was made, or someone has named the document as it is. */
  versionCreated(document: string, version: number, name: string | null): void {
    this.#note({ event: "version.created", document, seq: version, name });
  }

  #note(note: Omit<DocumentNote, "position" | "cause">): void {
    if (suggestionIn(note.document) !== null) return;
    this.notes().note({ ...note, cause: this.ports.cause() });
    this.noted();
  }

  protected record(heard: ReadonlySet<string>, row: RoomFields): void {
    const at = this.ports.now();
    const room = presentRoom(row, at, this.ports.stats());
    for (const note of this.notes().list()) {
      if (!heard.has(note.event)) continue;
      recordEvent(this.ports, at, { ...this.#draftOf(note, row.id), room }, note.cause);
      this.notes().delete(note.position);
    }
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
    const { documents } = this.ports.storage;
    const row = documents.find(document);
    return row === null ? seq : documents.lastSeq(row.id);
  }
}

/** An event of documents, without the room. */
type DocumentDraft = WithoutRoom<Extract<EventDraft, { readonly event: DocumentEventName }>>;
type WithoutRoom<Draft> = Draft extends unknown ? Omit<Draft, "room"> : never;
