/** Atrium as src/index.ts serves it, except for the emulated rate limiter. */
/// <reference types="@cloudflare/workers-types" />
import { app } from "../../../../src/app.ts";
import type { Env } from "../../../../src/env.ts";

export { EventLogObject } from "../../../../src/delivery/event-log/event-log-object.ts";
export { InboxFanOut } from "../../../../src/features/inbox/fan-out.ts";
export { GuessLimitObject } from "../../../../src/features/people/guess-limit-object.ts";
export { RequestRateObject } from "../../../../src/features/quotas/request-rate-object.ts";
export { RequestLogObject } from "../../../../src/features/request-log/request-log-object.ts";
export { InboxObject, RoomObject, SubscriberObject } from "../../../../src/objects.ts";
export { Isolates } from "../../../../src/sandbox/runners/loader-runner.ts";

/**
 * Counts in memory. Miniflare emulates the binding by an object that writes each count to disk: the two calls
 * of a request cost nearly as much again as all else, and would hide the measured cost.
 */
function inMemory(): RateLimit {
  const counts = new Map<string, number>();
  return {
    async limit({ key }) {
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return { success: count < Number.MAX_SAFE_INTEGER };
    },
  };
}

let known: Env | undefined;

export default {
  fetch(request: Request, bindings: Env, execution: ExecutionContext) {
    known ??= {
      ...bindings,
      ACCOUNT_RATE_LIMIT: inMemory(),
      CREDENTIAL_RATE_LIMIT: inMemory(),
      USER_RATE_LIMIT: inMemory(),
      AUTH_FAILURE_RATE_LIMIT: inMemory(),
    };
    return app.fetch(request, known, execution);
  },
};
