/** An open document and its subscriptions. */
import type { Effect, ShownEntry } from "../../transport/connection.ts";
import { Awareness } from "./awareness.ts";
import { awarenessBody, queryAwarenessBody } from "./frames.ts";
import type { Subscription } from "./subscription.ts";

const sendBytes = (to: readonly string[], frame: Uint8Array): Effect => ({ type: "sendBytes", to, frame });

/** Sends a frame to one subscription. */
export const sendTo = (subscription: Subscription, body: Uint8Array): Effect =>
  sendBytes([subscription.socketId], subscription.frame(body));

export class Channel {
  readonly name: string;
  readonly awareness = new Awareness();
  readonly #subscriptions = new Map<string, Subscription>();
  /** Some sockets are older than this memory, so the next subscription asks them for their awareness. */
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

  /** Adds a subscription, and sends it the awareness. */
  add(subscription: Subscription): Effect[] {
    const others = this.#hasForgotten ? this.broadcast(queryAwarenessBody()) : [];
    this.#hasForgotten = false;
    this.#put(subscription);
    const present = this.awareness.all();
    return present.length === 0 ? others : [...others, sendTo(subscription, awarenessBody(present))];
  }

  /** Restores a subscription after hibernation, with the awareness of its socket. */
  restore(subscription: Subscription, shown: readonly ShownEntry[]): void {
    this.#hasForgotten = true;
    this.#put(subscription);
    for (const entry of shown) this.awareness.restore(subscription.socketId, entry);
  }

  #put(subscription: Subscription): void {
    this.#subscriptions.set(idOf(subscription.socketId, subscription.key), subscription);
  }

  /** Removes a subscription. After the last one of a socket, the others learn that its clients are gone. */
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

  /** Sends a frame to all subscriptions but one. */
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
