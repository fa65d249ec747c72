/** Broadcasts: messages to the users who are online now, never stored. */

import { AppError } from "@atrium/contract/errors.ts";
import { LIMITS } from "@atrium/contract/limits.ts";
import type { BroadcastData } from "@atrium/contract/operations/presence.ts";
import { byteLength } from "@atrium/contract/text.ts";
import type { Effect } from "../transport/connection.ts";
import { type RoomConnections, send } from "../transport/connections.ts";
import { ORGANIZATION } from "./content/changes.ts";

interface BroadcastSender {
  /** A user's id, or {@link ORGANIZATION}. */
  readonly sender: string;
  /** The socket that does not receive its own broadcast; null over REST. */
  readonly socketId: string | null;
  readonly requestId: string | undefined;
}

interface Reached {
  readonly to: readonly string[];
  readonly delivered: number;
}

interface Sent {
  readonly data: { readonly delivered: number };
  readonly effects?: readonly Effect[];
}

export class Broadcasts {
  readonly #connections: RoomConnections;
  /** Responses by sender and request id, oldest first. */
  readonly #remembered = new Map<string, Sent>();

  constructor(connections: RoomConnections) {
    this.#connections = connections;
  }

  /** Sends a broadcast. A repeated one, under the same request id, reaches no one again. */
  send(message: BroadcastData, by: BroadcastSender): Sent {
    if (by.requestId === undefined) return this.#send(message, by);
    const key = `${by.sender} ${by.requestId}`;
    const before = this.#remembered.get(key);
    if (before !== undefined) return before;
    const sent = this.#send(message, by);
    this.#remembered.set(key, { data: sent.data });
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > LIMITS.rememberedBroadcasts && oldest !== undefined)
      this.#remembered.delete(oldest);
    return sent;
  }

  /** Reaches the named users or, without names, all joined sockets except the sender's own. */
  #send({ event, data = null, userIds }: BroadcastData, { sender, socketId }: BroadcastSender): Sent {
    if (byteLength(JSON.stringify(data)) > LIMITS.broadcastBytes)
      throw new AppError(
        "Rooms",
        "VALIDATION_ERROR",
        `data: must have at most ${LIMITS.broadcastBytes} bytes`,
      );
    const { to, delivered } =
      userIds === undefined ? this.#others(sender, socketId) : this.#socketsOf(userIds);
    const from = sender === ORGANIZATION ? null : sender;
    const broadcast = { type: "event", event: "broadcast", data: { event, data, from } } as const;
    return { data: { delivered }, effects: to.length === 0 ? [] : [send(to, broadcast)] };
  }

  #others(sender: string, socketId: string | null): Reached {
    const { joinedByUser, joinedIds } = this.#connections;
    const ids = joinedByUser.get(sender);
    const isAlone = socketId !== null && ids?.size === 1 && ids.has(socketId);
    return {
      to: joinedIds.filter((id) => id !== socketId),
      delivered: joinedByUser.size - (isAlone ? 1 : 0),
    };
  }

  #socketsOf(userIds: readonly string[]): Reached {
    const sockets = [...new Set(userIds)].map((userId) => this.#connections.idsOf(userId));
    return { to: sockets.flat(), delivered: sockets.filter((ids) => ids.length > 0).length };
  }
}
