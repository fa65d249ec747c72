/** The open documents, and those that are due for folding. Others have nothing in memory. */
import type { Effect } from "../../transport/connection.ts";
import type { Documents } from "../documents.ts";
import { Channel } from "./channel.ts";
import { updateBody } from "./frames.ts";
import type { Subscription } from "./subscription.ts";

export class Channels {
  readonly #documents: Documents;
  readonly #channels = new Map<string, Channel>();
  readonly #dueFolds = new Set<string>();

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  find(name: string): Channel | undefined {
    return this.#channels.get(name);
  }

  all(): readonly Channel[] {
    return [...this.#channels.values()];
  }

  /** Opens a document. A channel that stays without a subscription has to be released. */
  open(name: string): Channel {
    const known = this.#channels.get(name);
    if (known !== undefined) return known;
    const channel = new Channel(name);
    this.#channels.set(name, channel);
    return channel;
  }

  /** Sends a stored update to all other subscriptions, and schedules folding when it is due. */
  broadcast(name: string, update: Uint8Array, except?: Subscription): Effect[] {
    const effects = this.#channels.get(name)?.broadcast(updateBody(update), except) ?? [];
    return [...effects, ...this.foldIfDue(name)];
  }

  /** Schedules folding when it is due. */
  foldIfDue(name: string): Effect[] {
    if (!this.#documents.isFoldDue(name)) return [];
    this.#dueFolds.add(name);
    return [{ type: "foldDocuments" }];
  }

  /** Unloads a document, unless a socket has it open or folding is due. */
  release(name: string): void {
    if (this.#channels.get(name)?.isEmpty === false) return;
    this.#channels.delete(name);
    if (!this.#dueFolds.has(name)) this.#documents.release(name);
  }

  /**
   * Folds the documents that are due, and calls `folded` for each of their subscriptions with the first part that has
   * changed. A failure delays no other document: the first one is thrown at the end.
   */
  foldDue(folded: (name: string, subscription: Subscription, firstChanged: number) => void): void {
    const names = [...this.#dueFolds];
    this.#dueFolds.clear();
    const failures: unknown[] = [];
    for (const name of names) {
      try {
        const firstChanged = this.#documents.fold(name);
        for (const subscription of this.#channels.get(name)?.subscriptions ?? [])
          folded(name, subscription, firstChanged);
      } catch (error) {
        failures.push(error);
      }
      this.release(name);
    }
    if (failures.length > 0) throw failures[0];
  }
}
