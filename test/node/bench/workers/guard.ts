/** Atrium's authentication alone, repeated in one request, because the runtime's clock stands still while code runs. */
/// <reference types="@cloudflare/workers-types" />
import { compose } from "../../../../src/composition.ts";
import type { Env } from "../../../../src/env.ts";
import { claimOf } from "../../../../src/http/authenticate.ts";
import { openTenant } from "../../../../src/platform/d1/databases.ts";

export { EventLogObject } from "../../../../src/delivery/event-log/event-log-object.ts";
// Not used here: wrangler requires the objects of wrangler.toml to be exported.
export { InboxFanOut } from "../../../../src/features/inbox/fan-out.ts";
export { GuessLimitObject } from "../../../../src/features/people/guess-limit-object.ts";
export { RequestRateObject } from "../../../../src/features/quotas/request-rate-object.ts";
export { RequestLogObject } from "../../../../src/features/request-log/request-log-object.ts";
export { InboxObject, RoomObject, SubscriberObject } from "../../../../src/objects.ts";

export default {
  /** `/TIMES`: authenticates the request so often, with the ports that Atrium opens for it each time. */
  async fetch(request: Request, env: Env, execution: ExecutionContext) {
    const times = Number(new URL(request.url).pathname.slice(1));
    const { schemes } = compose(env);
    for (let time = 0; time < times; time += 1) {
      const claim = await claimOf(request, schemes, {
        ...openTenant(env, ""),
        roomId: null,
        isCounted: true,
        now: Date.now,
        countRequest: () => {},
        defer: (work) => execution.waitUntil(work),
      });
      await claim.verify();
    }
    return new Response("ok");
  },
};
