/** The identity, clock and log that the parts of a room's object share. */

import { passingReason } from "../../platform/objects/rpc.ts";
import { DATA_SETS } from "../../platform/telemetry/data-sets.ts";
import { metrics, reportFailure } from "../../platform/telemetry/telemetry.ts";
import { storeTrace, type Trace } from "../../platform/trace.ts";
import type { RoomIdentity } from "../storage/storage.ts";

/** The counters of all rooms of this isolate. */
export const roomMetrics = metrics.series(DATA_SETS.rooms, {});

/** A streak of failures that pass ends after this time without one. */
const STREAK_PAUSE_MS = 10 * 60_000;

export class RoomContext {
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly #state: DurableObjectState;
  /**
   * Comes from a caller and is kept in storage and attachments, because an alarm does not say which room it is
   * for.
   */
  #identity: RoomIdentity | null = null;
  /** The latest failure that passes, in epoch milliseconds. */
  #passingFailedAt = Number.NEGATIVE_INFINITY;

  constructor(state: DurableObjectState, now: () => number) {
    this.#state = state;
    this.now = now;
  }

  /** Records the identity. Throws for a caller of another account. */
  identify(accountId: string | null, roomId: string | null = this.#state.id.name ?? null): RoomIdentity {
    if (accountId === null || roomId === null)
      throw new Error("A room's object must be called through its gateway");
    this.#identity ??= { accountId, roomId };
    if (this.#identity.accountId !== accountId) throw new Error("This room belongs to another account");
    return this.#identity;
  }

  restore(identity: RoomIdentity | null): void {
    this.#identity = identity;
  }

  /** Known as soon as there is a caller, a socket or a stored record. */
  get identity(): RoomIdentity {
    if (this.#identity === null) throw new Error("This object does not know which room it is yet");
    return this.#identity;
  }

  keepAlive(work: Promise<unknown>): void {
    this.#state.waitUntil(work);
  }

  /** Logs a failure; one that passes once in a streak, as each frame may meet it. */
  report(what: string, error: unknown): void {
    if (passingReason(error) !== null) {
      const [now, failedAt] = [this.now(), this.#passingFailedAt];
      this.#passingFailedAt = now;
      if (now - failedAt < STREAK_PAUSE_MS) return;
    }
    const { accountId: account, roomId: room } = this.#identity ?? {};
    reportFailure("room", what, { account, room, object: String(this.#state.id) }, error);
  }
}

/** The trace of the request being handled: a room acts in synchronous turns, for one request at most. */
export class CurrentTrace {
  #trace: Trace | null = null;
  #frameId: string | undefined;

  /** Events of `work` follow from this request; null for none. */
  during<T>(trace: Trace | null, work: () => T): T {
    const [outer, frameId] = [this.#trace, this.#frameId];
    this.#trace = trace;
    this.#frameId = undefined;
    try {
      return work();
    } finally {
      this.#trace = outer;
      this.#frameId = frameId;
    }
  }

  /** The turn goes on with a message of the socket that this request has opened, with its `requestId`. */
  continue(trace: Trace | null, frameId: string | undefined): void {
    this.#trace = trace;
    this.#frameId = frameId;
  }

  /** The trace as JSON for an event's row; null for none. */
  get stored(): string | null {
    return storeTrace(this.#trace && { ...this.#trace, frameId: this.#frameId });
  }
}
