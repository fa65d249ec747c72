/** What the events of the room's content need. */
import type { RoomStats } from "../port/snapshots.ts";
import type { RoomStorage } from "../storage/storage.ts";

export interface EventPorts {
  readonly storage: RoomStorage;
  /** Epoch milliseconds. */
  now(): number;
  newId(): string;
  /** The room's stats, which its events show. */
  stats(): RoomStats;
}
