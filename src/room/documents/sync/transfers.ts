/** Sends documents to clients part by part. A step 1 after each part shows that the client has read it. */
import { documentPoints } from "../../protocol/costs.ts";
import type { Effect } from "../../transport/connection.ts";
import type { Documents } from "../documents.ts";
import { BegunSyncs } from "./begun-syncs.ts";
import { sendTo } from "./channel.ts";
import { step1Body, step2Body, updateBody } from "./frames.ts";
import type { SentStep, Subscription } from "./subscription.ts";

/** A client without an answer for so long is silent (R25), or disconnected. */
const MAX_ANSWER_MS = 90_000;

export class Transfers {
  readonly #documents: Documents;
  readonly #syncs = new BegunSyncs();

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Begins a transfer, unless one is under way. */
  begin(name: string, subscription: Subscription, stateVector: Uint8Array): Effect[] {
    this.#syncs.begin(subscription, stateVector, this.#documents.stateVector(name));
    subscription.heldStatuses = 0;
    if (this.#isUnderWay(name, subscription)) return [];
    subscription.transfer = { stateVector: this.#documents.narrow(name, stateVector), next: 0 };
    return this.continue(name, subscription);
  }

  /** The points (`costs`) for merging the answer to this state vector, beside sending it. */
  workOf(name: string, subscription: Subscription, stateVector: Uint8Array): number {
    if (this.#isUnderWay(name, subscription)) return 0;
    return documentPoints(this.#documents.bytesToMerge(name, stateVector));
  }

  #isUnderWay(name: string, { transfer, isAsked }: Subscription): boolean {
    return transfer !== null || (isAsked && this.#documents.partCount(name) > 1);
  }

  /** Continues a transfer from the first part that has changed. */
  restart(name: string, { transfer }: Subscription, firstChanged: number): void {
    if (transfer === null) return;
    const first = this.#documents.partCount(name) === 1 ? 0 : firstChanged;
    transfer.next = Math.min(transfer.next, first);
  }

  /** Sends the next part and a step 1, whose answer shows that it was read. */
  continue(name: string, subscription: Subscription): Effect[] {
    const { transfer } = subscription;
    if (transfer === null) return [];
    const { stateVector, next } = transfer;
    const part = (index: number) => this.#documents.missingPart(name, stateVector, index);
    const last = this.#documents.partCount(name) - 1;
    const sent = next < last ? [sendTo(subscription, updateBody(part(next)))] : [];
    if (next < last - 1) {
      transfer.next += 1;
      const step = this.ask(name, subscription, { mark: null, isSync: false });
      return [...sent, step, { type: "stayAwake", ms: MAX_ANSWER_MS }];
    }
    // Both at once: edits that are folded before each answer would delay the end forever.
    sent.push(sendTo(subscription, step2Body(part(last))));
    subscription.transfer = null;
    // The answer to an earlier step 1 will have these operations.
    if (subscription.isAsked) return sent;
    return [...sent, this.ask(name, subscription, { mark: null, isSync: true })];
  }

  /** Sends a step 1. */
  ask(name: string, subscription: Subscription, step: SentStep): Effect {
    subscription.unanswered.push(step);
    return sendTo(subscription, step1Body(this.#documents.stateVector(name)));
  }

  /** The number of statuses for a step 2: none unless it completes the synchronization. */
  statusesOfAnswer(name: string, subscription: Subscription): number {
    if (!this.#syncs.complete(subscription, this.#documents.stateVector(name))) return 0;
    const { heldStatuses } = subscription;
    subscription.heldStatuses = 0;
    return 1 + heldStatuses;
  }

  /**
   * The number of statuses for an update: none if the client made it before its step 1, so that the answer that
   * synchronizes it has the update as well. The status of an undecided update waits for the answer.
   */
  statusesOfUpdate(subscription: Subscription, update: Uint8Array): number {
    const isIncluded = this.#syncs.includes(subscription, update);
    if (isIncluded === null) subscription.heldStatuses += 1;
    return isIncluded === false ? 1 : 0;
  }

  /** Forgets a socket that is gone. */
  forget(socketId: string): void {
    this.#syncs.forget(socketId);
  }
}
