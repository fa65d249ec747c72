/** What the room asks of storage for its events: those that are yet to be handed over, and what they tell of. */
import type { EventName } from "../../delivery/port/event-name.ts";
import type { RoomRow } from "../../rooms/table.ts";
import type { UserRecord } from "../../users/schema.ts";

/** An event as it is written down. */
export interface RecordedEvent {
  readonly id: string;
  readonly event: EventName;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
  /** The event object as JSON. */
  readonly body: string;
}

/** An event that is yet to be handed over. */
export interface PendingEvent extends RecordedEvent {
  readonly seq: number;
  /** The subscriptions that it has yet to reach, as JSON; null until they are looked up. */
  readonly pendingSubscriptions: string | null;
}

export interface EventTable {
  append(event: RecordedEvent): void;
  /** The oldest ones, in their order. */
  list(limit: number): PendingEvent[];
  writePendingSubscriptions(seq: number, subscriptions: string): void;
  delete(seq: number): void;
}

/** A user who took part in the room's session. */
export interface Participant {
  readonly user: UserRecord;
  /** Epoch milliseconds of the latest join. */
  readonly joinedAt: number;
}

/** The room's own session: from the first user who comes to the last who goes. */
export interface OccupancyTable {
  /** The session that runs; null while nobody is in the room. */
  readId(): string | null;
  /** Begins a session in which nobody takes part yet. */
  begin(id: string): void;
  /** Notes a user who comes; one who came before keeps the earlier place. */
  put(participant: Participant): void;
  /** Changes a user who takes part. */
  update(user: UserRecord): void;
  /** In the order in which they first came. */
  list(): Participant[];
  /** Ends the session and forgets who took part. */
  end(): void;
  /** The room's row as the database last showed it; null before the first join. */
  readRoom(): RoomRow | null;
  writeRoom(row: RoomRow): void;
}
