/** The queue of all writes to stores: merges waiting writes, sends batches, and settles them by their responses. */

import { Emitter } from "../../core/emitter.ts";
import { AtriumError, clientFault, type Fault } from "../../core/error.ts";
import { isRecord, toFrame } from "../../core/json.ts";
import { newId, type Runtime } from "../../core/runtime.ts";
import { type Data, isCount, readFault } from "../connection/frames.ts";
import type { PendingRequests } from "../connection/requests.ts";
import type { Action, Operation } from "./entries.ts";
import {
  type KeptBatch,
  type QueuedWrite,
  type StorePersistence,
  WaitingWrites,
  type WriteTarget,
} from "./waiting-writes.ts";
import { type FittedWrite, operationOf, type Written } from "./writes.ts";

const FIRST_WINDOW_BYTES = 16 * 1024;
const MIN_WINDOW_BYTES = 4 * 1024;
const MAX_WINDOW_BYTES = 512 * 1024;
const QUEUE_MS = 250;

/** The bytes that pass through the connection in a round trip and {@link QUEUE_MS}. */
class SendWindow {
  bytes = FIRST_WINDOW_BYTES;
  /** The shortest round trip, which waited for the least. */
  #roundTripMs = Infinity;

  /** Something was answered after `elapsedMs`; `bytes`, its own included, were unanswered when it was sent. */
  measure(bytes: number, elapsedMs: number): void {
    this.#roundTripMs = Math.min(this.#roundTripMs, elapsedMs);
    const allowedMs = this.#roundTripMs + QUEUE_MS;
    const measured = (bytes * allowedMs) / Math.max(elapsedMs, 1);
    const next = elapsedMs > allowedMs ? measured : Math.max(measured, this.bytes);
    this.bytes = Math.min(Math.max(next, MIN_WINDOW_BYTES), MAX_WINDOW_BYTES);
  }
}

/** Limits of unanswered batches: writes stay smooth over a slow network, and waiting ones can be superseded. */
const INTERVAL_MS = 16;
const MAX_UNANSWERED = 8;
/** So that one batch is on its way while another is answered. */
const BATCHES_IN_WINDOW = 4;

const GIVEN_UP = clientFault("DISCONNECTED", "The write was given up");

/** A write that the client gave up. */
export interface DiscardedWrite {
  readonly store: string;
  readonly key: string;
  readonly action: Action;
  /** The whole value or, for `update`, the fields to merge; null for `delete`. */
  readonly value: unknown;
}

export interface WriteQueueEvents {
  /** Whether there are changes that the service has not confirmed. */
  unsyncedChanges: boolean;
  /** Writes were given up before the service confirmed them. */
  changesDiscarded: { readonly writes: readonly DiscardedWrite[]; readonly error: AtriumError };
}

export interface SentBatch extends KeptBatch {
  readonly data: { readonly operations: readonly object[]; readonly atomic: boolean };
  readonly bytes: number;
  /** Whether the batch was handed to the connection. A persistence keeps its id first. */
  isSent?: boolean;
}

export interface Queued {
  readonly operation: Operation;
  /** The write that has the operation, maybe with others. */
  readonly write: QueuedWrite;
  readonly written: Promise<Written>;
}

export class WriteQueue extends Emitter<WriteQueueEvents> {
  readonly #requests: PendingRequests;
  readonly #runtime: Runtime;
  readonly #persistence: StorePersistence | undefined;
  readonly #waiting = new WaitingWrites();
  readonly #unanswered = new Set<SentBatch>();
  #hasUnsynced = false;
  /** Whether a failed connection has discarded writes; until the next join. */
  #hasLost = false;
  #isScheduled = false;
  /** The latest write of the sealed batches that are not sent. */
  #latestSealed: QueuedWrite | undefined;
  #sentAt = -INTERVAL_MS;
  #window = new SendWindow();
  #cancelTimer = () => {};

  constructor(requests: PendingRequests, runtime: Runtime, persistence?: StorePersistence) {
    super();
    this.#persistence = persistence;
    this.#requests = requests;
    this.#runtime = runtime;
    requests.onStopped((fault) => this.#discard(fault));
    requests.onSending((request) => {
      this.resume(0);
      const latest = this.#waiting.sealLatest() ?? this.#latestSealed;
      if (latest) latest.requestsAfter.push(request);
      else request();
    });
  }

  get hasUnsynced(): boolean {
    return this.#hasUnsynced;
  }

  /** Adds a write, or merges it into a waiting one of its key. Throws if it cannot be sent. */
  add(target: WriteTarget, operation: FittedWrite): Queued {
    this.#check(target, [operation]);
    const queued = promise(operation, this.#waiting.add(target, operation));
    this.#added([queued]);
    return queued;
  }

  /** Adds writes that take effect together or not at all. Throws if they cannot be sent. */
  addBatch(target: WriteTarget, operations: readonly FittedWrite[]): Queued[] {
    this.#check(target, operations);
    const writes = this.#waiting.addBatch(target, operations);
    const queued = operations.map((operation, index) => promise(operation, writes[index] as QueuedWrite));
    this.#added(queued);
    return queued;
  }

  #check(target: WriteTarget, writes: readonly FittedWrite[]): void {
    const { failure } = this.#requests;
    if (failure !== null) {
      this.#hasLost = true;
      this.#report();
      const discarded = writes.map((write) => describe({ ...write, target }));
      this.emit("changesDiscarded", { writes: discarded, error: failure });
    }
    this.#requests.check();
    const operations = writes.map((write) => operationOf(target.name, write));
    toFrame({ type: "STORE_BATCH", requestId: newId(), data: { operations, atomic: false } });
  }

  #added(queued: readonly Queued[]): void {
    for (const { write } of queued) this.#persistence?.queued(write);
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      queueMicrotask(() => {
        this.#isScheduled = false;
        this.resume();
      });
    }
    this.#report();
  }

  /** Takes back waiting writes. Sent ones may take effect. */
  giveUp(writes: readonly QueuedWrite[]): void {
    const requests = this.#waiting.remove(writes);
    if (requests === null) return;
    const error = new AtriumError(GIVEN_UP);
    for (const write of writes) {
      this.#persistence?.settled(write, error);
      settle(write, error);
    }
    if (this.#latestSealed) this.#latestSealed.requestsAfter.push(...requests);
    else for (const request of requests) request();
    this.#report();
  }

  joined(): void {
    this.#hasLost = false;
    this.#window = new SendWindow();
    this.resume();
    this.#report();
  }

  /** Sends as much as the connection should take now, at this interval. */
  resume(intervalMs = INTERVAL_MS): void {
    this.#cancelTimer();
    while (this.#requests.isConnected && !this.#waiting.isEmpty && this.#maySend(intervalMs))
      this.#sendNext(this.#window.bytes / BATCHES_IN_WINDOW);
  }

  get #unansweredBytes(): number {
    return [...this.#unanswered].reduce((sum, batch) => sum + batch.bytes, 0);
  }

  #maySend(intervalMs: number): boolean {
    if (this.#unanswered.size === 0) return true;
    if (this.#unanswered.size >= MAX_UNANSWERED || this.#unansweredBytes >= this.#window.bytes) return false;
    const delayMs = this.#sentAt + intervalMs - this.#runtime.now();
    if (delayMs > 0) this.#cancelTimer = this.#runtime.after(delayMs, () => this.resume());
    return delayMs <= 0;
  }

  #sendNext(maxBytes: number): void {
    const { operations, atomic, bytes, writes } = this.#waiting.take(maxBytes);
    const batch: SentBatch = { requestId: newId(), data: { operations, atomic }, bytes, writes };
    this.#sentAt = this.#runtime.now();
    this.#unanswered.add(batch);
    this.#latestSealed = writes.at(-1);
    if (this.#persistence === undefined) this.#send(batch);
    else void this.#persistence.sealed(batch).then(() => this.#send(batch));
  }

  #send(batch: SentBatch): void {
    if (!this.#unanswered.has(batch)) return;
    batch.isSent = true;
    const { requestId, data, writes } = batch;
    const fail = (error: AtriumError) => this.#answered(batch, () => error);
    const [window, unansweredBytes, sentAt] = [this.#window, this.#unansweredBytes, this.#runtime.now()];
    const succeed = (answer: Data) => {
      window.measure(unansweredBytes, this.#runtime.now() - sentAt);
      this.#answered(batch, (index) => resultAt(answer, index));
    };
    try {
      this.#requests.post({
        requestId,
        frame: toFrame({ type: "STORE_BATCH", requestId, data }),
        succeed,
        fail,
      });
    } catch (error) {
      // Ids differ in length: a frame that just fitted can be too large.
      if (!(error instanceof AtriumError)) throw error;
      fail(error);
    }
    const latest = writes.at(-1);
    if (latest === this.#latestSealed) this.#latestSealed = undefined;
    for (const request of latest?.requestsAfter ?? []) request();
  }

  #answered(batch: SentBatch, outcomeOf: (index: number) => Written | AtriumError): void {
    if (!this.#unanswered.delete(batch)) return;
    for (const [index, write] of batch.writes.entries()) {
      const outcome = outcomeOf(index);
      this.#persistence?.settled(write, outcome);
      settle(write, outcome);
    }
    this.resume();
    this.#report();
  }

  /** Hands all waiting writes to the connection, for a page that ends. Returns the unanswered batches with kept ids. */
  sendAll(maxBytes: number): SentBatch[] {
    while (!this.#waiting.isEmpty) this.#sendNext(maxBytes);
    const isKept = this.#persistence?.flush();
    return [...this.#unanswered].filter(({ isSent }) => isSent || !isKept);
  }

  /** Continues with kept writes: batches under their ids, and single writes before all that wait. */
  restore(batches: readonly KeptBatch[], writes: readonly QueuedWrite[]): void {
    for (const kept of batches) {
      const operations = kept.writes.map((write) => operationOf(write.target.name, write));
      const batch = { ...kept, data: { operations, atomic: kept.writes[0]?.group !== null }, bytes: 0 };
      this.#unanswered.add(batch);
      this.#send(batch);
    }
    this.#waiting.addFirst(writes);
    this.resume();
    this.#report();
  }

  #discard(fault: Fault): void {
    this.#cancelTimer();
    const writes = [...[...this.#unanswered].flatMap((batch) => batch.writes), ...this.#waiting.clear()];
    this.#unanswered.clear();
    this.#latestSealed = undefined;
    const areKept = this.#persistence?.stopped(fault);
    const error = new AtriumError(fault);
    this.#hasLost = this.#requests.failure !== null && (this.#hasLost || writes.length > 0);
    if (writes.length === 0) {
      this.#report();
      return;
    }
    for (const write of writes) settle(write, error);
    for (const { requestsAfter } of writes) for (const request of requestsAfter) request(error);
    this.#report();
    if (!areKept) this.emit("changesDiscarded", { writes: writes.map(describe), error });
  }

  #report(): void {
    const hasUnsynced = this.#hasLost || this.#unanswered.size > 0 || !this.#waiting.isEmpty;
    if (hasUnsynced === this.#hasUnsynced) return;
    this.#hasUnsynced = hasUnsynced;
    this.emit("unsyncedChanges", hasUnsynced);
  }
}

const promise = (operation: Operation, write: QueuedWrite): Queued => ({
  operation,
  write,
  written: new Promise((resolve, reject) => {
    write.settled.push((outcome) => (outcome instanceof AtriumError ? reject(outcome) : resolve(outcome)));
  }),
});

function settle(write: QueuedWrite, outcome: Written | AtriumError): void {
  write.target.settle(write, outcome instanceof AtriumError);
  for (const settled of write.settled) settled(outcome);
}

const isWritten = (result: unknown): result is Written => isRecord(result) && isCount(result.seq);

function resultAt({ results }: Data, index: number): Written | AtriumError {
  const result: unknown = Array.isArray(results) ? results[index] : null;
  return isWritten(result) ? result : new AtriumError(readFault(isRecord(result) ? result.error : null));
}

function describe({ target, key, action, value }: Operation & Pick<QueuedWrite, "target">): DiscardedWrite {
  return { store: target.name, key, action, value };
}
