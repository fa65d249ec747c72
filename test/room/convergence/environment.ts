/** The port between the clients and their room: a simulated one in this process, or a real one across the network. */
import type { ServerMessage } from "../../../src/room/protocol/protocol.ts";

/** A client's joined connection. */
export interface ClientConnection {
  send(message: object): void;
  /** Breaks the connection: nothing is received any more. `last` is sent just before, and may or may not arrive. */
  cut(last?: object): void;
}

/** The room as REST shows it. */
export interface RoomOverview {
  readonly participants: number;
  /** How many entries the clients' store has. */
  readonly entries: number;
}

export interface Environment {
  /** The users of the room. */
  readonly userIds: readonly string[];
  /**
   * Connects and joins. Resolves when the join was answered, to null when the room crashed before. Everything
   * received is passed to `receive`.
   */
  open(
    userId: string,
    since: number,
    receive: (message: ServerMessage) => void,
  ): Promise<ClientConnection | null>;
  /** Kills the room with all connections, and starts it again from its storage. */
  crash(): Promise<void>;
  /** Lets the room do its work of idle times. */
  idle(how: "flush" | "hibernate"): Promise<void>;
  /** Waits until `isSettled`, up to a deadline. Throws errors of the meantime. */
  settle(isSettled: () => boolean): Promise<void>;
  overview(): Promise<RoomOverview>;
}
