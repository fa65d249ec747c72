/** The port between a queue and the handler of its kind of subscriber: attempts, and their outcomes. */
import type { LoggedAttempt, OutgoingEvent } from "./delivery-record.ts";

/** The outcome of an attempt, or the lack of one. */
export type DeliveryOutcome = FinalOutcome | SkippedOutcome;

/** An outcome that the delivery's record shows. */
export type FinalOutcome =
  | {
      readonly type: "delivered";
      readonly attempt: LoggedAttempt;
      /** The time for which nothing is delivered to the subscriber afterwards. */
      readonly restMs?: number;
    }
  /** Another attempt follows at `at` (epoch ms). */
  | {
      readonly type: "retry";
      readonly at: number;
      readonly attempt: LoggedAttempt;
      readonly error: string | null;
      readonly restMs?: number;
    }
  /** No other attempt follows; `attempt` is null when none was made at all. */
  | {
      readonly type: "failed";
      readonly attempt: LoggedAttempt | null;
      readonly error: string | null;
      readonly restMs?: number;
    };

/** No attempt was made. */
type SkippedOutcome =
  /** A request has disabled the subscriber: all that waits ends with `error`, or leaves no record when that is null. */
  | { readonly type: "disabled"; readonly error: string | null }
  /** The service has disabled the subscriber: all that waits is kept until it is enabled again. `why` is for the customer. */
  | { readonly type: "suspended"; readonly why: string }
  /** The service itself could not make an attempt. It tries again at `until` (epoch ms), or fails with `why`. */
  | { readonly type: "postponed"; readonly until: number; readonly why: string }
  /** The subscriber's row is gone, and everything that its object keeps with it. */
  | { readonly type: "orphaned" };

/** An event as a handler delivers it. */
export type HandledEvent = OutgoingEvent & {
  /** The replay that sends it again; null otherwise. */
  readonly replayId: string | null;
  /** True when the attempt is never repeated, however it ends: it was marked as started. */
  readonly isOnce: boolean;
};

export interface DeliveryHandler {
  /**
   * Null when any attempt whose outcome is unknown may be repeated. Otherwise an attempt is marked as started, unless
   * {@link mayRepeat} allows to repeat it, and this is the error, for the customer, of a marked one that a crash cut off.
   */
  readonly interruption: string | null;
  /** True if the attempt that starts now may be repeated; absent where none may. Never rejects. */
  mayRepeat?(): Promise<boolean>;
  /** The schedule; absent where nothing is delivered by the clock. */
  readonly timetable?: Timetable;
  /** The subscriber's pace now. */
  readonly pace: Pace;
  /** The limits of one request; null for one event each. */
  readonly batch: BatchLimits | null;
  /**
   * Makes one attempt, of the event and the `others` of its batch, with one outcome for all of them; `attempts` were
   * made of each before it. Never rejects.
   */
  deliver(event: HandledEvent, attempts: number, others?: readonly HandledEvent[]): Promise<DeliveryOutcome>;
  /** From now on the handler uses no cached row of a lower version. */
  requireVersion(version: number): void;
  /** Frees what it keeps for later deliveries: the subscriber is deleted. */
  release(): void;
  /** Disables the subscriber, because too much waits for it. Rejects when the database fails. */
  suspend(): Promise<void>;
  /** Notifies the organization of a high backlog; null means recovered. Rejects when that must be tried again. */
  reportBacklog(report: BacklogReport | null): Promise<void>;
}

/** The backlog of a subscriber. */
export interface Backlog {
  readonly deliveries: number;
  readonly bytes: number;
  /** When the oldest was enqueued (epoch ms); null when nothing waits. */
  readonly oldestAt: number | null;
}

/** A high backlog. */
export interface BacklogReport extends Backlog {
  /** The ID of the event that reports it. */
  readonly eventId: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The limits of a batch. */
export interface BatchLimits {
  readonly maxEvents: number;
  /** For how long the first event of a batch waits for more, in milliseconds. */
  readonly maxWaitMs: number;
}

/** The pace of deliveries to a subscriber. */
export interface Pace {
  /** The most attempts in flight at once. */
  readonly maxInFlight: number;
  /** No attempt starts before (epoch ms), except of what was asked for by hand. */
  readonly pausedUntil: number;
}

/** The state of a handler, stored with its subscriber: JSON, `{}` at first. */
export interface HandlerState {
  read(): string;
  write(json: string): void;
}

/** The schedule of a subscriber. */
export interface Timetable {
  /**
   * When the next event is due after `now`, and the event of the time that was planned before and has come, unless
   * that is no longer wanted; null when the subscriber's row is gone. All times are epoch milliseconds. Rejects when
   * the database fails.
   */
  read(plannedAt: number | null, now: number): Promise<TimetableReading | null>;
}

export interface TimetableReading {
  readonly event: OutgoingEvent | null;
  /** Null when none follows. */
  readonly nextAt: number | null;
}
