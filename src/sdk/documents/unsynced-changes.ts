/** The changes of a document that the room has not confirmed to be on disk. */
import { mergeUpdates } from "yjs";
import type { DocumentChanges } from "../client/unsynced.ts";
import { AtriumError, type Fault } from "../core/error.ts";
import type { Runtime } from "../core/runtime.ts";
import { Waiters } from "../core/runtime.ts";

/** A sent message: one update, all missing changes, or an answer without any. */
type Sent = "update" | "all" | "nothing";

export class UnsyncedChanges implements DocumentChanges {
  readonly name: string;
  readonly #changed: (isAny: boolean) => void;
  readonly #reported: () => void;
  #unsent: Uint8Array[] = [];
  /** Messages without a status, oldest first. */
  #unanswered: Sent[] = [];
  #isBehind = false;
  /** Refused changes are waited for only after another change. */
  #isRefused = false;
  #isAny = false;
  readonly #flushes: Waiters;

  /** Calls `reported` after each call, and `changed` when {@link isAny} changes. */
  constructor(name: string, runtime: Runtime, reported: () => void, changed: (isAny: boolean) => void) {
    this.name = name;
    this.#flushes = new Waiters(runtime);
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

  add(update: Uint8Array): void {
    this.#unsent.push(update);
    this.#report();
  }

  miss(): void {
    this.#isBehind = true;
    this.#isRefused = false;
    this.#report();
  }

  /** The room takes no change, or not the latest. */
  refuse(): void {
    this.#isBehind ||= this.#isAny;
    this.#isRefused = true;
    this.#report();
  }

  take(): Uint8Array | null {
    const updates = this.#unsent;
    this.#unsent = [];
    const [first = null] = updates;
    return updates.length > 1 ? mergeUpdates(updates) : first;
  }

  sent(what: Sent): void {
    this.#unanswered.push(what);
    this.#report();
  }

  /** The earliest message is on disk, or was refused. */
  settle(isStored: boolean): void {
    const sent = this.#unanswered.shift();
    if (!isStored) this.#isBehind = this.#isRefused = true;
    else if (sent === "all") this.#isBehind = false;
    this.#report();
  }

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
  async flush(timeoutMs?: number): Promise<void> {
    if (this.#isAny) await this.#flushes.wait(timeoutMs);
  }

  stop(fault: Fault): void {
    this.#flushes.reject(new AtriumError(fault));
  }
}
