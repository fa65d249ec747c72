/** `client.notifications`: fleeting messages to those who are in the room now. */
import { Emitter } from "../core/emitter.ts";
import type { Connection } from "./connection/connection.ts";
import { isCount } from "./connection/frames.ts";

/** A message, and the id of the user who sent it; null for the organization. */
export interface Notification {
  readonly data: unknown;
  readonly from: string | null;
}

export class Notifications extends Emitter<Record<string, Notification>> {
  readonly #session: Connection;

  constructor(session: Connection) {
    super();
    this.#session = session;
    session.feed.hear("broadcast", ({ event, data, from }) => {
      if (typeof event === "string") this.emit(event, { data, from: typeof from === "string" ? from : null });
    });
  }

  /**
   * Sends `data` to all others who are online or, with `userIds`, to those, oneself included if named; gives
   * how many users were reached. Where the connection breaks before the answer, it may arrive twice.
   */
  broadcast(event: string, data?: unknown, userIds?: readonly string[]): Promise<number> {
    const take = ({ delivered }: { readonly delivered?: unknown }) => (isCount(delivered) ? delivered : 0);
    return this.#session.requests.ask("BROADCAST", { event, data, userIds }, { take });
  }

  /** Calls `listener` for the next message of that name alone. Returns the function that ends it. */
  once(event: string, listener: (notification: Notification) => void): () => void {
    const off = this.on(event, (notification) => {
      off();
      listener(notification);
    });
    return off;
  }
}
