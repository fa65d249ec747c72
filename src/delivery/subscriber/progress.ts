/** What an attempt, or the lack of one, makes of a delivery. */
import type { DeliveryOutcome } from "../handler.ts";
import type { Delivery, LoggedAttempt } from "../subscriber-port.ts";

/** How a delivery stands after it. */
export interface DeliveryProgress {
  readonly status: Delivery["status"];
  /** Epoch milliseconds. */
  readonly retryAt: number | null;
  readonly attempt: LoggedAttempt | null;
  readonly error: string | null;
}

/** Over, without an attempt that could be told of. */
export const failure = (error: string): DeliveryProgress => ({
  status: "failed",
  retryAt: null,
  attempt: null,
  error,
});

export function progressOf(
  outcome: Extract<DeliveryOutcome, { type: "delivered" | "retry" | "failed" }>,
): DeliveryProgress {
  switch (outcome.type) {
    case "delivered":
      return { status: "success", retryAt: null, attempt: outcome.attempt, error: null };
    case "retry":
      return { status: "pending", retryAt: outcome.at, attempt: outcome.attempt, error: outcome.error };
    case "failed":
      return { status: "failed", retryAt: null, attempt: outcome.attempt, error: outcome.error };
  }
}
