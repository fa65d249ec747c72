/** Atrium, with everything counted that Cloudflare bills: `GET /bill` responds with the sums so far. */
/// <reference types="@cloudflare/workers-types" />
import { app } from "../../../../src/app.ts";
import { EventLogObject as EventLog } from "../../../../src/delivery/event-log/event-log-object.ts";
import type { Env } from "../../../../src/env.ts";
import { RequestRateObject as RequestRate } from "../../../../src/features/quotas/request-rate-object.ts";
import { RequestLogObject as RequestLog } from "../../../../src/features/request-log/request-log-object.ts";
import { RoomObject as Room, SubscriberObject as Subscriber } from "../../../../src/objects.ts";
import { bill, meterClass, meteredDatabase, meterStorage } from "../fleet/meter.ts";

export { GuessLimitObject } from "../../../../src/features/people/guess-limit-object.ts";
export { InboxObject } from "../../../../src/objects.ts";
export { Isolates } from "../../../../src/sandbox/runners/loader-runner.ts";

/** No load of the bench is refused. */
const unlimited: RateLimit = { limit: async () => ({ success: true }) };

const metered = (env: Env): Env => ({
  ...env,
  DB: meteredDatabase(env.DB),
  ACCOUNT_RATE_LIMIT: unlimited,
  CREDENTIAL_RATE_LIMIT: unlimited,
  USER_RATE_LIMIT: unlimited,
  AUTH_FAILURE_RATE_LIMIT: unlimited,
});

export class RoomObject extends Room {
  constructor(ctx: DurableObjectState, env: Env) {
    meterStorage(ctx, "rooms");
    super(ctx, metered(env));
  }
}
meterClass(RoomObject, "rooms");

export class SubscriberObject extends Subscriber {
  constructor(ctx: DurableObjectState, env: Env) {
    meterStorage(ctx, "subscribers");
    super(ctx, metered(env));
  }
}
meterClass(SubscriberObject, "subscribers");

export class EventLogObject extends EventLog {
  constructor(ctx: DurableObjectState, env: Env) {
    meterStorage(ctx, "eventLogs");
    super(ctx, metered(env));
  }
}
meterClass(EventLogObject, "eventLogs");

export class RequestLogObject extends RequestLog {
  constructor(ctx: DurableObjectState, env: Env) {
    meterStorage(ctx, "requestLogs");
    super(ctx, metered(env));
  }
}
meterClass(RequestLogObject, "requestLogs");

export class RequestRateObject extends RequestRate {
  constructor(ctx: DurableObjectState, env: Env) {
    meterStorage(ctx, "requestRates");
    super(ctx, metered(env));
  }
}
meterClass(RequestRateObject, "requestRates");

let known: Env | undefined;

export default {
  fetch(request: Request, env: Env, execution: ExecutionContext) {
    if (new URL(request.url).pathname === "/bill") return Response.json(bill);
    bill.requests += 1;
    known ??= metered(env);
    return app.fetch(request, known, execution);
  },
};
