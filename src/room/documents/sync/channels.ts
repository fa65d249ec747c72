/** The documents that are open, and those that have to be folded: nothing of any other one stays in memory. */
import type { Effect } from "../../transport/effects.ts";
import type { Documents } from "../documents.ts";
import { updateBody } from "../wire/frames.ts";
import { Channel } from "./channel.ts";
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

  /** The document's channel. One that stays without a subscription has to be released. */
  open(name: string): Channel {
    const known = this.#channels.get(name);
    if (known !== undefined) return known;
    const channel = new Channel(name);
    this.#channels.set(name, channel);
    return channel;
  }

  /** Sends a stored update to all others who have the document open, and has it folded when that is due. */
  broadcast(name: string, update: Uint8Array, except?: Subscription): Effect[] {
    const effects = this.#channels.get(name)?.broadcast(updateBody(update), except) ?? [];
    return [...effects, ...this.foldIfDue(name)];
  }

  /** Has the document folded soon, when that is due. */
  foldIfDue(name: string): Effect[] {
    if (!this.#documents.isFoldDue(name)) return [];
    this.#dueFolds.add(name);
    return [{ type: "foldDocuments" }];
  }

  /** Frees what is in memory of the document, unless a socket has it open or it has to be folded. */
  release(name: string): void {
    if (this.#channels.get(name)?.isEmpty === false) return;
    this.#channels.delete(name);
    if (!this.#dueFolds.has(name)) this.#documents.release(name);
  }

  /**
   * Folds the documents that need it, and calls `folded` for each subscription to them, with the first part that has
   * changed. A document that fails holds up no other: the first failure is thrown in the end.
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
