/** How a kind of subscriber is given an event: what the object of every subscriber asks of it, and what it answers. */
import type { Envelope, LoggedAttempt } from "./subscriber.ts";

/** What became of an event. */
export type Outcome =
  | { readonly type: "delivered"; readonly attempt: LoggedAttempt }
  /** Another attempt follows at `at` (epoch ms). */
  | { readonly type: "retry"; readonly at: number; readonly attempt: LoggedAttempt }
  /** No attempt follows. */
  | { readonly type: "failed"; readonly attempt: LoggedAttempt }
  /** The subscriber does not want it any more: no attempt was made, and none follows. */
  | { readonly type: "skipped"; readonly why: string }
  /** We could not make an attempt ourselves, and shall be able to at `until` (epoch ms). */
  | { readonly type: "postponed"; readonly until: number }
  /** The subscriber is no more. */
  | { readonly type: "orphaned" };

export interface Courier {
  /** Makes one attempt; `attempts` were made before. Never rejects. */
  carry(envelope: Envelope, attempts: number): Promise<Outcome>;
  /** What is remembered of the subscriber's row is out of date if its version is lower than this. */
  expect(version: number): void;
}

/** What a courier keeps with its subscriber from one life of the object to the next. */
export interface CourierMemory {
  read(): string;
  write(json: string): void;
}
