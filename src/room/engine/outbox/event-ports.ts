/** What the events of the room's content need. */
import type { EventCause } from "../../../wire/event-cause.ts";
import type { RoomStats } from "../../../wire/snapshots.ts";
import type { RoomStorage } from "../../storage/storage.ts";

export interface EventPorts {
  readonly storage: RoomStorage;
  /** Epoch milliseconds. */
  now(): number;
  newId(): string;
  /** The run that the change follows from; null when no workflow has made it. */
  cause(): EventCause | null;
  /** The room's stats, which its events show. */
  stats(): RoomStats;
}
