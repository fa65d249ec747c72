/** The storage port for the room's outbox, and for the occupancy period that its events report. */
import type { EventCause, EventName } from "../../wire/events.ts";
import type { RoomFields } from "../../wire/room.ts";
import type { UserRecord } from "../../wire/user.ts";

/** An event as it is recorded. */
export interface RecordedEvent {
  readonly id: string;
  readonly event: EventName;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
  /** The event object as JSON. */
  readonly body: string;
}

/** An event in the outbox: it has not reached all of its subscribers yet. */
export interface OutboxEvent extends RecordedEvent {
  readonly seq: number;
  /** The subscriptions that it has yet to reach, as JSON; null until they are looked up. */
  readonly pendingSubscriptions: string | null;
  /** The trace of the request that it follows from, as JSON; null for none. */
  readonly trace: string | null;
}

export interface EventTable {
  append(event: RecordedEvent): void;
  /** The oldest ones, in order. */
  list(limit: number): OutboxEvent[];
  writePendingSubscriptions(seq: number, subscriptions: string): void;
  delete(seq: number): void;
}

/** A store that has changed since its latest event. */
export interface ChangedStore {
  readonly store: string;
  /** The first of these changes. */
  readonly fromSeq: number;
  /** The run behind these changes, of several the one with the lowest depth; null if anyone else has made some. */
  readonly cause: EventCause | null;
}

export interface ChangedStoreTable {
  /** Notes a store that has changed with this seq; of one that is noted already the earlier seq and the lower depth stay. */
  note(changed: ChangedStore): void;
  /** By the names of the stores. */
  list(): ChangedStore[];
  /** Forgets all of them. */
  clear(): void;
}

/** The events of documents. */
export type DocumentEventName = Extract<EventName, `document.${string}` | `version.${string}`>;

/** Something that happened to a document, until an event is recorded for it. */
export interface DocumentNote {
  /** Grows from each to the next. */
  readonly position: number;
  readonly event: DocumentEventName;
  readonly document: string;
  /** The number of the first update that it is about, or of the version. */
  readonly seq: number;
  /** Of a version. */
  readonly name: string | null;
}

export interface DocumentNoteTable {
  /** Of `document.updated`, the first of each document stays. */
  note(note: Omit<DocumentNote, "position">): void;
  /** In their order. */
  list(): DocumentNote[];
  delete(position: number): void;
  /** Deletes the note that a document was updated. */
  deleteUpdate(document: string): void;
  /** Deletes all of them. */
  clear(): void;
}

/** A user who took part in the occupancy period. */
export interface Participant {
  readonly user: UserRecord;
  /** The latest join (epoch ms). */
  readonly joinedAt: number;
}

/** The current occupancy period: from the first join to the last leave. */
export interface OccupancyTable {
  /** The id of the current period; null while the room is empty. */
  readId(): string | null;
  /** Starts a period without participants. */
  begin(id: string): void;
  /** Adds or updates a participant; one who was in the room before keeps their place. */
  put(participant: Participant): void;
  /** Updates a user who took part. */
  update(user: UserRecord): void;
  /** In the order of their first joins. */
  list(): Participant[];
  /** Ends the period and forgets who took part. */
  end(): void;
  /** The room's row as last read from the database; null before the first join. */
  readRoom(): RoomFields | null;
  writeRoom(row: RoomFields): void;
}
