/** The changes of a document that the room has not confirmed to be on disk. */
import { mergeUpdates } from "yjs";
import type { DocumentChanges } from "../client/unsynced.ts";
import { AtriumError, type Fault } from "../core/error.ts";
import type { Runtime } from "../core/runtime.ts";
import { Waiters } from "../core/runtime.ts";

/** A sent message: an update, or an answer that only says that there is none. */
interface Sent {
  readonly update: Uint8Array;
  readonly isChange: boolean;
}

export class UnsyncedChanges implements DocumentChanges {
  readonly name: string;
  readonly #changed: (isAny: boolean) => void;
  readonly #reported: () => void;
  #unsent: Uint8Array[] = [];
  /** Messages without a status, oldest first. */
  #unanswered: Sent[] = [];
  /** Refused updates are sent with the next insertion: without them, Yjs would show it to no one. */
  #refused: Uint8Array[] = [];
  /** Whether some changes wait for the next synchronization, and whether all of them were refused before. */
  #isBehind = false;
  #isRefused = false;
  #isAny = false;
  readonly #flushes: Waiters;
  /** Why no change is sent any more. */
  #ended: Fault | null = null;

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

  /** Whether there are changes without an answer: a refusal is one. */
  get isPending(): boolean {
    return this.#isOnItsWay || (this.#isBehind && !this.#isRefused);
  }

  get isRefused(): boolean {
    return this.#refused.length > 0 || (this.#isBehind && this.#isRefused);
  }

  get #isOnItsWay(): boolean {
    return this.#unsent.length > 0 || this.#unanswered.some(({ isChange }) => isChange);
  }

  add(update: Uint8Array): void {
    this.#unsent.push(update);
    this.#report();
  }

  /** A change is made without a connection, or refused at once. */
  miss(isRefused: boolean): void {
    this.#isBehind = true;
    this.#isRefused = isRefused;
    this.#report();
  }

  /** An update that is not sent is refused or, without one, everything is. */
  refuse(update?: Uint8Array): void {
    if (update === undefined) this.#isRefused = true;
    else this.#refused.push(update);
    this.#report();
  }

  /** The next update, if there is a change. */
  take(): Uint8Array | null {
    if (this.#unsent.length === 0) return null;
    // An update begins with its number of inserting clients: deletions go alone, and may make space.
    const isInsertion = this.#unsent.some(([clients]) => clients !== 0);
    const updates = [...(isInsertion ? this.#refused.splice(0) : []), ...this.#unsent.splice(0)];
    const [first = null] = updates;
    return updates.length > 1 ? mergeUpdates(updates) : first;
  }

  /** The next message has everything that the room lacks. */
  clear(): void {
    this.#unsent = [];
    this.#refused = [];
    this.#isBehind = false;
  }

  /** All changes are given up. */
  forget(): void {
    this.clear();
    this.#report();
  }

  sent(update: Uint8Array, isChange = true): void {
    this.#unanswered.push({ update, isChange });
    this.#report();
  }

  /** The earliest message is on disk, or was refused. */
  settle(isStored: boolean): void {
    const sent = this.#unanswered.shift();
    if (sent && !isStored) this.#refused.push(sent.update);
    this.#report();
  }

  lost(): void {
    this.#isRefused = !this.isPending;
    this.#isBehind = this.#isAny;
    this.#unsent = [];
    this.#unanswered = [];
    this.#refused = [];
  }

  #report(): void {
    const isAny = this.#isBehind || this.#isOnItsWay || this.#refused.length > 0;
    if (!this.isPending) this.#flushes.resolve();
    if (isAny !== this.#isAny) {
      this.#isAny = isAny;
      this.#changed(isAny);
    }
    this.#reported();
  }

  /** Resolves when none is pending. Throws TIMEOUT, or the error of {@link stop}. */
  async flush(timeoutMs?: number): Promise<void> {
    if (this.isPending && this.#ended !== null) throw new AtriumError(this.#ended);
    if (this.isPending) await this.#flushes.wait(timeoutMs);
  }

  stop(fault: Fault): void {
    this.#ended = fault;
    this.#flushes.reject(new AtriumError(fault));
  }
}
