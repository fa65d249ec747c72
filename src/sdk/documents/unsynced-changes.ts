/** The changes of a document that the room has not confirmed to be on disk. */
import { mergeUpdates } from "yjs";
import type { DocumentChanges } from "../client/unsynced.ts";
import { FlushWaiters } from "../core/deferred.ts";
import { AtriumError, type Fault } from "../core/error.ts";
import type { Runtime } from "../core/runtime.ts";

/** A message that was sent: one update, all that the room lacked, or an answer to its question although it lacks nothing. */
type Sent = "update" | "all" | "nothing";

export class UnsyncedChanges implements DocumentChanges {
  readonly name: string;
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
  readonly #flushes: FlushWaiters;

  /** Calls `reported` after each of its own calls, and `changed` when the first change is unsynced, and when none is any more. */
  constructor(name: string, runtime: Runtime, reported: () => void, changed: (isAny: boolean) => void) {
    this.name = name;
    this.#flushes = new FlushWaiters(runtime);
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
      if (!isAny) this.#flushes.resolve();
      this.#changed(isAny);
    }
    this.#reported();
  }

  /** Resolves when none is unsynced. Throws TIMEOUT, or the error of {@link stop}. */
  async flush(timeoutMs: number | undefined): Promise<void> {
    if (this.#isAny) await this.#flushes.wait(timeoutMs);
  }

  /** Nothing more will be sent. */
  stop(fault: Fault): void {
    this.#flushes.reject(new AtriumError(fault));
  }
}
