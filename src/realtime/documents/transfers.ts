/** What clients are sent of documents, part by part, and the step 1 by which each shows that it has read so far. */
import { documentPoints } from "../protocol/costs.ts";
import type { Effect } from "../transport/effects.ts";
import { BegunSyncs } from "./begun-syncs.ts";
import { sendTo } from "./channel.ts";
import type { Documents } from "./documents.ts";
import type { Subscription } from "./subscription.ts";
import { step1Body, step2Body, updateBody } from "./wire/frames.ts";

/** A step 1 that was sent, and what its answer means. */
interface Expected {
  /** The client has read what was sent before this mark; null when it was sent for the sake of its answer. */
  readonly mark: number | null;
  /** The client is synchronized by it. */
  readonly isSync: boolean;
}

export class Transfers {
  readonly #documents: Documents;
  /** By socket, in the order in which they were sent. */
  readonly #expected = new Map<string, Expected[]>();
  readonly #syncs = new BegunSyncs();

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Sends a client what it lacks; of a large document, the first part. */
  begin(name: string, subscription: Subscription, stateVector: Uint8Array): Effect[] {
    this.#syncs.begin(subscription, stateVector);
    this.#open(name, subscription, this.#documents.narrow(name, stateVector));
    return this.continue(name, subscription);
  }

  /** What it costs to find what a client with this state vector lacks, in points (`costs`), beside sending it. */
  workOf(name: string, stateVector: Uint8Array): number {
    return documentPoints(this.#documents.bytesToMerge(name, stateVector));
  }

  /** Begins again, for a client that is being sent a document whose parts have changed. */
  restart(name: string, subscription: Subscription): void {
    const { transfer } = subscription;
    if (transfer !== null) this.#open(name, subscription, transfer.stateVector);
  }

  #open(name: string, subscription: Subscription, stateVector: Uint8Array): void {
    const parts = this.#documents.missing(name, stateVector);
    subscription.transfer = { stateVector, parts, next: parts.next().value ?? new Uint8Array() };
  }

  /** Sends the next part of what the client lacks, and asks for what the room lacks: the answer shows that it was read. */
  continue(name: string, subscription: Subscription): Effect[] {
    const { transfer } = subscription;
    if (transfer === null) return [];
    const part = transfer.next;
    const following = transfer.parts.next();
    if (following.done) subscription.transfer = null;
    else transfer.next = following.value;
    const isLast = subscription.transfer === null;
    return [
      sendTo(subscription, isLast ? step2Body(part) : updateBody(part)),
      this.ask(name, subscription, { mark: null, isSync: isLast }),
    ];
  }

  /** Asks a client for what the room lacks. */
  ask(name: string, subscription: Subscription, expected: Expected): Effect {
    const { socketId } = subscription;
    const asked = this.#expected.get(socketId);
    if (asked === undefined) this.#expected.set(socketId, [expected]);
    else asked.push(expected);
    return sendTo(subscription, step1Body(this.#documents.stateVector(name)));
  }

  /** A client has answered the earliest step 1: returns what that means. */
  answered(socketId: string): Expected | undefined {
    return this.#expected.get(socketId)?.shift();
  }

  /** Whether the step 2 that a client has sent completes its synchronization. */
  completes(name: string, subscription: Subscription): boolean {
    return this.#syncs.complete(subscription, this.#documents.stateVector(name));
  }

  /** Whether the client will send the update again, in the answer that synchronizes it: it had made it before it asked. */
  synchronizes(subscription: Subscription, update: Uint8Array): boolean {
    return this.#syncs.includes(subscription, update);
  }

  /** A socket is gone. */
  forget(socketId: string): void {
    this.#expected.delete(socketId);
    this.#syncs.forget(socketId);
  }
}
