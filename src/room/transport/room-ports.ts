/** The ports of a room, which the object that hosts it fills. */
import type { RoomLimits } from "../../platform/config.ts";
import type { RoomStorage } from "../storage/storage.ts";

export interface RoomPorts {
  readonly storage: RoomStorage;
  /** Epoch milliseconds. */
  now(): number;
  newId(): string;
  roomId(): string;
  /** The time for which a user stays online whose last socket broke; 0 for none. */
  readonly graceMs: number;
  /** The time for which documents keep their edit history, and their versions without a name. */
  readonly trailKeptMs: number;
  /** The limits of the room as they hold now. */
  limits(): RoomLimits;
  /** The room goes on with a message of this socket: events that follow belong to its trace. */
  handling?(id: string, requestId: string | undefined): void;
  /** Milliseconds until the socket may be sent another answer; null when its client has to read first. */
  answerableIn(id: string): number | null;
  /** Whether the socket's client has read enough to be sent more presence. */
  canTakeMore(id: string): boolean;
  /** The user's sockets that were closed with much to read, and have not ended. */
  closingOf(userId: string): number;
  /** The runtime's last answer to the socket's ping, which does not reach the room (epoch ms); null if never. */
  lastPingAt(id: string): number | null;
  /** A task has become due: the alarm is planned again when the turn ends. */
  planAlarm(): void;
  /** Reports an unexpected failure to the service's log. */
  report(what: string, error: unknown): void;
}
