/** What clients are sent of documents, part by part, and the step 1 by which each shows that it has read so far. */
import { documentPoints } from "../../protocol/costs.ts";
import type { Effect } from "../../transport/effects.ts";
import type { Documents } from "../documents.ts";
import { step1Body, step2Body, updateBody } from "../wire/frames.ts";
import { BegunSyncs } from "./begun-syncs.ts";
import { sendTo } from "./channel.ts";
import type { Question, Subscription } from "./subscription.ts";

/** A client that answers no part for so long is silent (R25), or has lost its connection. */
const MAX_ANSWER_MS = 90_000;

export class Transfers {
  readonly #documents: Documents;
  readonly #syncs = new BegunSyncs();

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Sends a client what it lacks; of a large document, the first part, unless that is on its way already. */
  begin(name: string, subscription: Subscription, stateVector: Uint8Array): Effect[] {
    this.#syncs.begin(subscription, stateVector, this.#documents.stateVector(name));
    subscription.heldStatuses = 0;
    if (this.#isUnderWay(name, subscription)) return [];
    subscription.transfer = { stateVector: this.#documents.narrow(name, stateVector), next: 0 };
    return this.continue(name, subscription);
  }

  /** What it costs to find what a client with this state vector lacks, in points (`costs`), beside sending it. */
  workOf(name: string, subscription: Subscription, stateVector: Uint8Array): number {
    if (this.#isUnderWay(name, subscription)) return 0;
    return documentPoints(this.#documents.bytesToMerge(name, stateVector));
  }

  #isUnderWay(name: string, { transfer, isAsked }: Subscription): boolean {
    return transfer !== null || (isAsked && this.#documents.partCount(name) > 1);
  }

  /** Goes on with the first part that has changed, for a client that was sent it. */
  restart(name: string, { transfer }: Subscription, firstChanged: number): void {
    if (transfer === null) return;
    const first = this.#documents.partCount(name) === 1 ? 0 : firstChanged;
    transfer.next = Math.min(transfer.next, first);
  }

  /** Sends the next part of what the client lacks, and asks for what the room lacks: the answer shows that it was read. */
  continue(name: string, subscription: Subscription): Effect[] {
    const { transfer } = subscription;
    if (transfer === null) return [];
    const { stateVector, next } = transfer;
    const part = (index: number) => this.#documents.missingPart(name, stateVector, index);
    const last = this.#documents.partCount(name) - 1;
    const sent = next < last ? [sendTo(subscription, updateBody(part(next)))] : [];
    if (next < last - 1) {
      transfer.next += 1;
      const question = this.ask(name, subscription, { mark: null, isSync: false });
      return [...sent, question, { type: "stayAwake", ms: MAX_ANSWER_MS }];
    }
    // At once: edits that are folded before each answer would put the end off for ever.
    sent.push(sendTo(subscription, step2Body(part(last))));
    subscription.transfer = null;
    // A client that still has to answer the question of an earlier step 1 has sent this one by then.
    if (subscription.isAsked) return sent;
    return [...sent, this.ask(name, subscription, { mark: null, isSync: true })];
  }

  /** Asks a client for what the room lacks. */
  ask(name: string, subscription: Subscription, question: Question): Effect {
    subscription.questions.push(question);
    return sendTo(subscription, step1Body(this.#documents.stateVector(name)));
  }

  /** How many statuses a client is sent for its step 2: none unless that completes its synchronization. */
  statusesOfAnswer(name: string, subscription: Subscription): number {
    if (!this.#syncs.complete(subscription, this.#documents.stateVector(name))) return 0;
    const { heldStatuses } = subscription;
    subscription.heldStatuses = 0;
    return 1 + heldStatuses;
  }

  /**
   * How many a client is sent for its update: none if it had made it before it asked, so that the answer that
   * synchronizes it has the update as well. If the update does not show that, its status waits for the answer.
   */
  statusesOfUpdate(subscription: Subscription, update: Uint8Array): number {
    const isIncluded = this.#syncs.includes(subscription, update);
    if (isIncluded === null) subscription.heldStatuses += 1;
    return isIncluded === false ? 1 : 0;
  }

  /** A socket is gone. */
  forget(socketId: string): void {
    this.#syncs.forget(socketId);
  }
}
