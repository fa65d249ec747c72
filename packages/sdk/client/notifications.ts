/** Broadcasts, as `client.notifications`: messages to the users who are online now. They are not stored. */
import { callEach, getOrAdd } from "../core/emitter.ts";
import type { Abortable } from "../core/runtime.ts";
import type { Connection } from "./connection/connection.ts";
import { isCount } from "./connection/frames.ts";

/** Receives the data of a broadcast and the id of the user who sent it; null for your back end. */
export type BroadcastListener<Data = unknown> = (data: Data, from: string | null) => void;

/** The arguments after the event's name: the data, unless it can be left out, and the receivers instead of everyone. */
export type BroadcastArguments<Data> = undefined extends Data
  ? [data?: Data, userIds?: readonly string[], options?: Abortable]
  : [data: Data, userIds?: readonly string[], options?: Abortable];

/** A message that is older is of no use to its receivers. */
const VALID_MS = 5_000;

/** `Sent` has the data of the application's broadcasts by event name. It is not checked: other clients can send anything. */
export class Notifications<Sent extends object = Record<string, unknown>> {
  readonly #connection: Connection;
  readonly #listeners = new Map<string, Set<BroadcastListener>>();

  constructor(connection: Connection) {
    this.#connection = connection;
    connection.changeStream.handle("broadcast", ({ event, data, from }) => {
      if (typeof event !== "string") return;
      callEach(this.#listeners.get(event), data, typeof from === "string" ? from : null);
    });
  }

  /** Calls `listener` for each message of this name from others. Returns a function that removes the listener. */
  on<Name extends keyof Sent & string>(event: Name, listener: BroadcastListener<Sent[Name]>): () => void {
    getOrAdd(this.#listeners, event, () => new Set()).add(untyped(listener));
    return () => this.off(event, listener);
  }

  /** Calls `listener` for the next message of this name only. Returns a function that removes it. */
  once<Name extends keyof Sent & string>(event: Name, listener: BroadcastListener<Sent[Name]>): () => void {
    const remove = this.on(event, (data, from) => {
      remove();
      listener(data, from);
    });
    return remove;
  }

  /** Removes a listener that `on` added. */
  off<Name extends keyof Sent & string>(event: Name, listener: BroadcastListener<Sent[Name]>): void {
    this.#listeners.get(event)?.delete(untyped(listener));
  }

  /**
   * Sends `data` to others who are online, or to `userIds`. Returns the number of receivers. Throws TIMEOUT if it could not
   * be sent within 5 s, and DISCONNECTED if it was not answered by then when the connection ends.
   */
  broadcast<Name extends keyof Sent & string>(
    event: Name,
    ...[data, userIds, { signal } = {}]: BroadcastArguments<Sent[Name]>
  ): Promise<number> {
    const read = ({ delivered }: { readonly delivered?: unknown }) => (isCount(delivered) ? delivered : 0);
    const options = { read, signal, validMs: VALID_MS };
    return this.#connection.requests.send("BROADCAST", { event, data, userIds }, options);
  }
}

function untyped<Data>(listener: BroadcastListener<Data>): BroadcastListener {
  return listener as BroadcastListener;
}
