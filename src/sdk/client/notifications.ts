/** `client.notifications`: messages to the users who are online now. They are not stored. */
import { Emitter } from "../core/emitter.ts";
import type { Connection } from "./connection/connection.ts";
import { isCount } from "./connection/frames.ts";

/** A message from another user or from your back end. */
export interface Notification {
  readonly data: unknown;
  /** The id of the user who sent it; null for your back end. */
  readonly from: string | null;
}

export class Notifications extends Emitter<Record<string, Notification>> {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    super();
    this.#connection = connection;
    connection.changes.handle("broadcast", ({ event, data, from }) => {
      if (typeof event === "string") this.emit(event, { data, from: typeof from === "string" ? from : null });
    });
  }

  /**
   * Sends `data` to all other users who are online or, with `userIds`, to those users, which can include yourself.
   * Returns how many users received it. If the connection is lost before the response, it can arrive twice.
   */
  broadcast(event: string, data?: unknown, userIds?: readonly string[]): Promise<number> {
    const read = ({ delivered }: { readonly delivered?: unknown }) => (isCount(delivered) ? delivered : 0);
    return this.#connection.requests.send("BROADCAST", { event, data, userIds }, { read });
  }

  /** Calls `listener` for the next message of this name only. Returns a function that removes it. */
  once(event: string, listener: (notification: Notification) => void): () => void {
    const remove = this.on(event, (notification) => {
      remove();
      listener(notification);
    });
    return remove;
  }
}
