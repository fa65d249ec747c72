/** A document that sockets have open: who receives what concerns it. */
import type { ShownEntry } from "../../transport/connection.ts";
import type { Effect } from "../../transport/effects.ts";
import { awarenessBody, queryAwarenessBody } from "../wire/frames.ts";
import { Awareness } from "./awareness.ts";
import type { Subscription } from "./subscription.ts";

/** A frame to sockets that know a document by different names, or by its address. */
const sendBytes = (to: readonly string[], frame: Uint8Array): Effect => ({ type: "sendBytes", to, frame });

/** A frame to one subscription. */
export const sendTo = (subscription: Subscription, body: Uint8Array): Effect =>
  sendBytes([subscription.socketId], subscription.frame(body));

export class Channel {
  readonly name: string;
  readonly awareness = new Awareness();
  readonly #subscriptions = new Map<string, Subscription>();
  /** Some sockets are older than this memory: who is in the document has to be asked of them. */
  #hasForgotten = false;

  constructor(name: string) {
    this.name = name;
  }

  get isEmpty(): boolean {
    return this.#subscriptions.size === 0;
  }

  get subscriptions(): readonly Subscription[] {
    return [...this.#subscriptions.values()];
  }

  find(socketId: string, key: string | null): Subscription | undefined {
    return this.#subscriptions.get(idOf(socketId, key));
  }

  /** Adds a subscription, which receives who is in the document. */
  add(subscription: Subscription): Effect[] {
    const others = this.#hasForgotten ? this.broadcast(queryAwarenessBody()) : [];
    this.#hasForgotten = false;
    this.#put(subscription);
    const present = this.awareness.all();
    return present.length === 0 ? others : [...others, sendTo(subscription, awarenessBody(present))];
  }

  /** Adds a subscription that survived hibernation, and what its socket shows. */
  restore(subscription: Subscription, shown: readonly ShownEntry[]): void {
    this.#hasForgotten = true;
    this.#put(subscription);
    for (const entry of shown) this.awareness.restore(subscription.socketId, entry);
  }

  #put(subscription: Subscription): void {
    this.#subscriptions.set(idOf(subscription.socketId, subscription.key), subscription);
  }

  /** Removes a subscription; when it was the socket's last, the others receive that it is gone. */
  remove(subscription: Subscription): Effect[] {
    const { socketId, key } = subscription;
    this.#subscriptions.delete(idOf(socketId, key));
    if (this.subscriptions.some((other) => other.socketId === socketId)) return [];
    const gone = this.awareness.remove(socketId);
    return gone.length === 0 ? [] : this.broadcast(awarenessBody(gone));
  }

  of(socketId: string): Subscription[] {
    return this.subscriptions.filter((subscription) => subscription.socketId === socketId);
  }

  /** Sends a frame to all that have the document open, except one. */
  broadcast(body: Uint8Array, except?: Subscription): Effect[] {
    const byKey = new Map<string | null, Subscription[]>();
    for (const subscription of this.#subscriptions.values()) {
      if (subscription === except) continue;
      const same = byKey.get(subscription.key);
      if (same === undefined) byKey.set(subscription.key, [subscription]);
      else same.push(subscription);
    }
    return [...byKey.values()].flatMap((same) => {
      const [first] = same;
      const to = same.map(({ socketId }) => socketId);
      return first === undefined ? [] : [sendBytes(to, first.frame(body))];
    });
  }
}

const idOf = (socketId: string, key: string | null): string => `${socketId} ${key ?? ""}`;
