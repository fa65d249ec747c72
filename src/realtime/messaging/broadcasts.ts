/** Messages that concern those who are there now and nobody else: passed on, never kept. */
import { AppError } from "../../platform/errors.ts";
import { ORGANIZATION } from "../content/changes.ts";
import { byteLength, MAX_BROADCAST_BYTES, MAX_REMEMBERED_BROADCASTS } from "../protocol/limits.ts";
import type { BroadcastData } from "../protocol/messages.ts";
import type { Connections } from "../transport/connections.ts";
import type { Effect } from "../transport/effects.ts";

export interface Sender {
  /** A user's id, or {@link ORGANIZATION}. */
  readonly sender: string;
  /** The socket that is not to hear its own message; null over REST. */
  readonly socketId: string | null;
  readonly requestId: string | undefined;
}

interface Sent {
  readonly data: { readonly delivered: number };
  readonly effects?: readonly Effect[];
}

export class Broadcasts {
  readonly #connections: Connections;
  /** What was answered, by sender and request id, the oldest first. */
  readonly #remembered = new Map<string, Sent>();

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** One that is sent again, as its answer got lost, reaches nobody twice. */
  send(message: BroadcastData, by: Sender): Sent {
    if (by.requestId === undefined) return this.#pass(message, by);
    const name = `${by.sender} ${by.requestId}`;
    const before = this.#remembered.get(name);
    if (before !== undefined) return before;
    const sent = this.#pass(message, by);
    this.#remembered.set(name, { data: sent.data });
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > MAX_REMEMBERED_BROADCASTS && oldest !== undefined)
      this.#remembered.delete(oldest);
    return sent;
  }

  /** Reaches the users named or, without names, all joined sockets but the sender's own. */
  #pass({ event, data = null, userIds }: BroadcastData, { sender, socketId }: Sender): Sent {
    if (byteLength(JSON.stringify(data)) > MAX_BROADCAST_BYTES)
      throw new AppError("Rooms", "VALIDATION_ERROR", `data: must have at most ${MAX_BROADCAST_BYTES} bytes`);
    const to: string[] = [];
    let delivered = 0;
    const { tabs } = this.#connections;
    for (const userId of userIds === undefined ? tabs.keys() : new Set(userIds)) {
      const reachedBefore = to.length;
      for (const id of tabs.get(userId) ?? []) {
        if (userIds !== undefined || id !== socketId) to.push(id);
      }
      if (to.length > reachedBefore) delivered += 1;
    }
    const from = sender === ORGANIZATION ? null : sender;
    const message = { type: "event", event: "broadcast", data: { event, data, from } } as const;
    return { data: { delivered }, effects: to.length === 0 ? [] : [{ type: "send", to, message }] };
  }
}
