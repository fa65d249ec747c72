/** How a kind of subscriber is given an event: what the queue of every subscriber asks of it, and what it answers. */
import type { LoggedAttempt, OutgoingEvent } from "./subscriber-port.ts";

/** What became of an event. After an attempt with `restMs`, the subscriber is given nothing for so long. */
export type DeliveryOutcome =
  | { readonly type: "delivered"; readonly attempt: LoggedAttempt; readonly restMs?: number }
  /** Another attempt follows at `at` (epoch ms). */
  | {
      readonly type: "retry";
      readonly at: number;
      readonly attempt: LoggedAttempt;
      readonly error: string | null;
    }
  /** No attempt follows; without `attempt` none was made. */
  | {
      readonly type: "failed";
      readonly attempt: LoggedAttempt | null;
      readonly error: string | null;
      readonly restMs?: number;
    }
  /** The subscriber does not want it any more: no attempt was made, none follows, and no record is kept. */
  | { readonly type: "unwanted" }
  /** We could not make an attempt ourselves, and shall be able to at `until` (epoch ms); `why` for who cannot wait. */
  | { readonly type: "postponed"; readonly until: number; readonly why: string }
  /** The subscriber is no more. */
  | { readonly type: "orphaned" };

export interface DeliveryHandler {
  /**
   * Null when an attempt may be made again, should nobody know how it ended. Else none is ever made twice, and this
   * is what one has failed of that was cut off, in words for the customer.
   */
  readonly interruption: string | null;
  /** Makes one attempt; `attempts` were made before. Never rejects. */
  deliver(envelope: OutgoingEvent, attempts: number): Promise<DeliveryOutcome>;
  /** What is remembered of the subscriber's row is out of date if its version is lower than this. */
  requireVersion(version: number): void;
}

/** What a handler keeps with its subscriber from one life of the object to the next. */
export interface HandlerState {
  read(): string;
  write(json: string): void;
}
