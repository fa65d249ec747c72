/** Why the service disables a webhook. */
import { MAX_UNPROVEN_FAILURES } from "./receiver-health.ts";
import type { DisabledReason } from "./table.ts";

/** Why the service disabled a webhook, and what to do, in the words of the API. */
export const DISABLED_MESSAGES: Readonly<Record<DisabledReason, string>> = {
  gone: "The receiver answered 410 Gone. Enable the webhook again when it should receive events.",
  failing:
    "Every attempt has failed for five days. Make the receiver answer 2xx, then enable the webhook again: it receives what waits.",
  unproven: `The receiver has never answered 2xx, in ${MAX_UNPROVEN_FAILURES} attempts and a day. Make it answer 2xx, then enable the webhook again: it receives what waits.`,
  backlogged:
    "Too many events were waiting, for this webhook or for all of the organization, or the oldest for too long. Make the receiver faster, then enable the webhook again: it receives what waits.",
};
