/** The changes of a document that the room has not confirmed to be on disk. */
import { mergeUpdates } from "yjs";
import { Deferred } from "../core/deferred.ts";
import { AtriumError, clientFault, type Fault } from "../core/error.ts";
import type { Runtime } from "../core/runtime.ts";

const TIMED_OUT = clientFault("TIMEOUT", "Some changes are not stored yet");

export class UnsyncedChanges {
  readonly #runtime: Runtime;
  readonly #changed: (isAny: boolean) => void;
  /** Updates that are to be sent over this connection. */
  #unsent: Uint8Array[] = [];
  /** What was sent and has no status yet, oldest first; true for all that the room lacked. */
  #unanswered: boolean[] = [];
  /** There may be changes that are not among those: the next synchronization sends them. */
  #isBehind = false;
  #isAny = false;
  readonly #flushes = new Set<Deferred>();

  /** Calls `changed` when the first change is unsynced, and when none is any more. */
  constructor(runtime: Runtime, changed: (isAny: boolean) => void) {
    this.#runtime = runtime;
    this.#changed = changed;
  }

  get isAny(): boolean {
    return this.#isAny;
  }

  /** An update that is to be sent over this connection. */
  add(update: Uint8Array): void {
    this.#unsent.push(update);
    this.#report();
  }

  /** A change that is not sent over this connection. */
  miss(): void {
    this.#isBehind = true;
    this.#report();
  }

  /** Takes what is to be sent, as one update; null if there is nothing. */
  take(): Uint8Array | null {
    const updates = this.#unsent;
    this.#unsent = [];
    const [first = null] = updates;
    return updates.length > 1 ? mergeUpdates(updates) : first;
  }

  /** Something was sent that will have a status: all that the room lacks, or an update. */
  sent(isAll: boolean): void {
    this.#unanswered.push(isAll);
    this.#report();
  }

  /** The earliest of what was sent is on disk, or was refused. */
  settle(isStored: boolean): void {
    const isAll = this.#unanswered.shift();
    if (!isStored) this.#isBehind = true;
    else if (isAll) this.#isBehind = false;
    this.#report();
  }

  /** The connection was lost. */
  lost(): void {
    this.#isBehind = this.#isAny;
    this.#unsent = [];
    this.#unanswered = [];
  }

  #report(): void {
    const isAny = this.#isBehind || this.#unsent.length > 0 || this.#unanswered.length > 0;
    if (isAny === this.#isAny) return;
    this.#isAny = isAny;
    if (!isAny) for (const flush of this.#flushes) flush.resolve();
    this.#changed(isAny);
  }

  /** Resolves when none is unsynced. Throws TIMEOUT, or the error of {@link stop}. */
  async flush(timeoutMs: number | undefined): Promise<void> {
    if (!this.#isAny) return;
    const flush = new Deferred();
    this.#flushes.add(flush);
    const timedOut = () => flush.reject(new AtriumError(TIMED_OUT));
    const cancel = timeoutMs === undefined ? () => {} : this.#runtime.after(timeoutMs, timedOut);
    try {
      await flush.promise;
    } finally {
      cancel();
      this.#flushes.delete(flush);
    }
  }

  /** Nothing more will be sent. */
  stop(fault: Fault): void {
    for (const flush of this.#flushes) flush.reject(new AtriumError(fault));
  }
}
