/** The changes of a document that the room has not confirmed to be on disk. */
import { mergeUpdates } from "yjs";
import type { DocumentChanges } from "../client/unsynced.ts";
import { Deferred } from "../core/deferred.ts";
import { AtriumError, clientFault, type Fault } from "../core/error.ts";
import type { Runtime } from "../core/runtime.ts";

const TIMED_OUT = clientFault("TIMEOUT", "Some changes are not stored yet");

/** A message that was sent: one update, all that the room lacked, or an answer to its question although it lacks nothing. */
type Sent = "update" | "all" | "nothing";

export class UnsyncedChanges implements DocumentChanges {
  readonly name: string;
  readonly #runtime: Runtime;
  readonly #changed: (isAny: boolean) => void;
  readonly #reported: () => void;
  /** Updates that are to be sent over this connection. */
  #unsent: Uint8Array[] = [];
  /** What was sent and has no status yet, oldest first. */
  #unanswered: Sent[] = [];
  /** There may be changes that are not among those: the next synchronization sends them. */
  #isBehind = false;
  /** The room has refused those, so that only another change of them is worth waiting for. */
  #isRefused = false;
  #isAny = false;
  readonly #flushes = new Set<Deferred>();

  /** Calls `reported` after each of its own calls, and `changed` when the first change is unsynced, and when none is any more. */
  constructor(name: string, runtime: Runtime, reported: () => void, changed: (isAny: boolean) => void) {
    this.name = name;
    this.#runtime = runtime;
    this.#reported = reported;
    this.#changed = changed;
  }

  get isAny(): boolean {
    return this.#isAny;
  }

  get isPending(): boolean {
    return this.#isOnItsWay || (this.#isBehind && !this.#isRefused);
  }

  get #isOnItsWay(): boolean {
    return this.#unsent.length > 0 || this.#unanswered.some((sent) => sent !== "nothing");
  }

  /** An update that is to be sent over this connection. */
  add(update: Uint8Array): void {
    this.#unsent.push(update);
    this.#report();
  }

  /** A change that is not sent over this connection. */
  miss(): void {
    this.#isBehind = true;
    this.#isRefused = false;
    this.#report();
  }

  /** The room takes no change of this document, or not the latest. */
  refuse(): void {
    this.#isBehind ||= this.#isAny;
    this.#isRefused = true;
    this.#report();
  }

  /** Takes what is to be sent, as one update; null if there is nothing. */
  take(): Uint8Array | null {
    const updates = this.#unsent;
    this.#unsent = [];
    const [first = null] = updates;
    return updates.length > 1 ? mergeUpdates(updates) : first;
  }

  /** Something was sent that will have a status. */
  sent(what: Sent): void {
    this.#unanswered.push(what);
    this.#report();
  }

  /** The earliest of what was sent is on disk, or was refused. */
  settle(isStored: boolean): void {
    const sent = this.#unanswered.shift();
    if (!isStored) this.#isBehind = this.#isRefused = true;
    else if (sent === "all") this.#isBehind = false;
    this.#report();
  }

  /** The connection was lost. */
  lost(): void {
    if (this.#isOnItsWay) this.#isRefused = false;
    this.#isBehind = this.#isAny;
    this.#unsent = [];
    this.#unanswered = [];
  }

  #report(): void {
    const isAny = this.#isBehind || this.#isOnItsWay;
    if (isAny !== this.#isAny) {
      this.#isAny = isAny;
      if (!isAny) for (const flush of this.#flushes) flush.resolve();
      this.#changed(isAny);
    }
    this.#reported();
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
