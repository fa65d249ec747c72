/** Atrium as src/index.ts serves it, with the rate limits of wrangler.toml counted in memory. */
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

/** Counts in fixed windows. Miniflare's emulation of the binding writes each count to disk. */
function limit(perWindow: number, windowSeconds: number): RateLimit {
  let counts = new Map<string, number>();
  let endsAt = 0;
  return {
    async limit({ key }) {
      if (Date.now() >= endsAt) {
        counts = new Map();
        endsAt = Date.now() + windowSeconds * 1000;
      }
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return { success: count <= perWindow };
    },
  };
}

let known: Env | undefined;

export default {
  fetch(request: Request, bindings: Env, execution: ExecutionContext) {
    known ??= {
      ...bindings,
      ACCOUNT_RATE_LIMIT: limit(1_000, 10),
      CREDENTIAL_RATE_LIMIT: limit(1_000, 10),
      USER_RATE_LIMIT: limit(200, 10),
      AUTH_FAILURE_RATE_LIMIT: limit(100, 10),
      SIGN_IN_ADDRESS_RATE_LIMIT: limit(60, 60),
    };
    return app.fetch(request, known, execution);
  },
};
