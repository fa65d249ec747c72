/** Sends documents to clients part by part. A step 1 after each part shows that the client has read it. */
import * as decoding from "lib0/decoding";
import { decodeStateVector } from "yjs";
import { documentPoints } from "../../protocol/costs.ts";
import type { Effect } from "../../transport/connection.ts";
import type { RoomDocuments } from "../documents.ts";
import { scanUpdate } from "../updates/update-reader.ts";
import { type SentStep, type Subscription, sendTo } from "./channels.ts";
import { bodies } from "./frames.ts";

/** Longest wait for an answer; after it the client counts as silent (R25) or disconnected. */
const MAX_ANSWER_MS = 90_000;

export class Transfers {
  readonly #documents: RoomDocuments;
  readonly #syncs = new StartedSyncs();

  constructor(documents: RoomDocuments) {
    this.#documents = documents;
  }

  /** Begins a transfer, unless one is under way. */
  begin(subscription: Subscription, stateVector: Uint8Array): Effect[] {
    this.#syncs.begin(subscription, stateVector, this.#documents.stateVector(subscription.channel.name));
    subscription.heldStatuses = 0;
    if (this.#isUnderWay(subscription)) return [];
    subscription.transfer = {
      stateVector: this.#documents.narrow(subscription.channel.name, stateVector),
      next: 0,
    };
    return this.continue(subscription);
  }

  /** The points (`costs`) for merging the answer to this state vector, beside sending it. */
  workOf(subscription: Subscription, stateVector: Uint8Array): number {
    if (this.#isUnderWay(subscription)) return 0;
    return documentPoints(this.#documents.bytesToMerge(subscription.channel.name, stateVector));
  }

  #isUnderWay({ channel, transfer, isAsked }: Subscription): boolean {
    return transfer !== null || (isAsked && this.#documents.partCount(channel.name) > 1);
  }

  /** Continues a transfer from the first part that has changed. */
  restart({ channel, transfer }: Subscription, firstChanged: number): void {
    if (transfer === null) return;
    const first = this.#documents.partCount(channel.name) === 1 ? 0 : firstChanged;
    transfer.next = Math.min(transfer.next, first);
  }

  /** Sends the next part and a step 1, whose answer shows that it was read. */
  continue(subscription: Subscription): Effect[] {
    const { channel, transfer } = subscription;
    if (transfer === null) return [];
    const { name } = channel;
    const { stateVector, next } = transfer;
    const part = (index: number) => this.#documents.missingPart(name, stateVector, index);
    const last = this.#documents.partCount(name) - 1;
    const sent = next < last ? [sendTo(subscription, bodies.update(part(next)))] : [];
    if (next < last - 1) {
      transfer.next += 1;
      const step = this.ask(subscription, { mark: null, isSync: false });
      return [...sent, step, { type: "stayAwake", ms: MAX_ANSWER_MS }];
    }
    // Both at once: edits that are folded before each answer would delay the end forever.
    sent.push(sendTo(subscription, bodies.step2(part(last))));
    subscription.transfer = null;
    // The answer to an earlier step 1 will have these operations.
    if (subscription.isAsked) return sent;
    return [...sent, this.ask(subscription, { mark: null, isSync: true })];
  }

  ask(subscription: Subscription, step: SentStep): Effect {
    subscription.unanswered.push(step);
    return sendTo(subscription, bodies.step1(this.#documents.stateVector(subscription.channel.name)));
  }

  /** The number of statuses for a step 2: none unless it completes the synchronization. */
  statusesOfAnswer(subscription: Subscription): number {
    if (!this.#syncs.complete(subscription, this.#documents.stateVector(subscription.channel.name))) return 0;
    const { heldStatuses } = subscription;
    subscription.heldStatuses = 0;
    return 1 + heldStatuses;
  }

  /** The statuses for an update: none if the answer to the room's step 1 has it. An undecided one waits for that answer. */
  statusesOfUpdate(subscription: Subscription, update: Uint8Array): number {
    const isIncluded = this.#syncs.includes(subscription, update);
    if (isIncluded === null) subscription.heldStatuses += 1;
    return isIncluded === false ? 1 : 0;
  }

  forget(socketId: string): void {
    this.#syncs.forget(socketId);
  }
}

/** Clocks that are remembered for one socket; each document counts as one more. */
const MAX_CLOCKS_OF_SOCKET = 10_000;

type Clocks = ReadonlyMap<number, number>;

/** The operations that a client had at its step 1 and the room lacked: one status confirms all of them. */
class StartedSyncs {
  /** Clocks of the latest step 1 that the room lacks, by socket and document; null once all of them are stored. */
  readonly #clocks = new Map<string, Map<string, Clocks | null>>();

  /** Remembers a step 1, unless the socket has too many clocks. The room has `stored`. */
  begin({ socketId, key }: Subscription, stateVector: Uint8Array, stored: Uint8Array): void {
    const known = this.#clocks.get(socketId) ?? new Map<string, Clocks | null>();
    known.delete(key ?? "");
    const others = [...known.values()].reduce((sum, clocks) => sum + (clocks?.size ?? 0) + 1, 0);
    const lacking = clocksBeyond(decodeStateVector(stored), stateVector, MAX_CLOCKS_OF_SOCKET - others);
    if (lacking !== null) known.set(key ?? "", lacking);
    this.#clocks.set(socketId, known);
  }

  /** Tells whether a step 2 is the first one after which the room has all of the client's operations. */
  complete({ socketId, key }: Subscription, stateVector: Uint8Array): boolean {
    const known = this.#clocks.get(socketId);
    const clocks = known?.get(key ?? "");
    if (clocks === undefined) return true; // the step 1 was forgotten
    if (clocks === null) return false;
    const stored = decodeStateVector(stateVector);
    if ([...clocks].some(([client, clock]) => (stored.get(client) ?? 0) < clock)) return false;
    known?.set(key ?? "", null);
    return true;
  }

  /** Tells whether an update has operations from before the step 1, which the answer repeats; null if it only deletes. */
  includes({ socketId, key }: Subscription, update: Uint8Array): boolean | null {
    const clocks = this.#clocks.get(socketId)?.get(key ?? "");
    if (clocks === undefined || clocks === null) return false;
    const { inserted } = scanUpdate(update);
    if (inserted.length === 0) return null;
    return inserted.some(({ client, start }) => start < (clocks.get(client) ?? 0));
  }

  forget(socketId: string): void {
    this.#clocks.delete(socketId);
  }
}

/** The clocks of a state vector beyond `stored`; null for `max` clients or more, as a vector may name millions. */
function clocksBeyond(stored: Clocks, stateVector: Uint8Array, max: number): Clocks | null {
  const clocks = new Map<number, number>();
  const decoder = decoding.createDecoder(stateVector);
  for (let left = decoding.readVarUint(decoder); left > 0; left -= 1) {
    const [client, clock] = [decoding.readVarUint(decoder), decoding.readVarUint(decoder)];
    if (clock > (stored.get(client) ?? 0)) clocks.set(client, clock);
    if (clocks.size >= max) return null;
  }
  return clocks;
}
