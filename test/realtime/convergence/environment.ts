/** The port between members and the room that they are in: a pure one in this process, or one across the network. */
import type { ServerMessage } from "../../../src/realtime/protocol/protocol.ts";

/** A member's connection, joined. */
export interface ClientConnection {
  send(message: object): void;
  /** Breaks it: nothing comes back any more. `last` is sent just before, and may or may not arrive. */
  cut(last?: object): void;
}

/** What the organization is told of the room over REST. */
export interface RoomOverview {
  readonly participants: number;
  /** How many entries the members' store has. */
  readonly entries: number;
}

export interface Environment {
  /** The users of the room. */
  readonly userIds: readonly string[];
  /**
   * Connects and joins, and settles when that was answered; null when the room died before. All that comes is
   * handed to `hear`.
   */
  open(userId: string, since: number, hear: (message: ServerMessage) => void): Promise<ClientConnection | null>;
  /** Kills the room with all wires, and starts it again on what it had stored. */
  crash(): Promise<void>;
  /** What the room does by itself when it is left alone. */
  idle(how: "flush" | "hibernate"): Promise<void>;
  /** Gives the room time until `isSettled`, but not for ever. Throws what went wrong meanwhile. */
  settle(isSettled: () => boolean): Promise<void>;
  overview(): Promise<RoomOverview>;
}
