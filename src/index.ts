/** The Worker: its fetch and cron handlers, and the classes that the platform instantiates by name. */
import { exports } from "cloudflare:workers";
import { app } from "./app.ts";
import type { Env } from "./env.ts";
import { failure, toAppError } from "./http/envelope.ts";
import { admit, withoutCors } from "./http/security.ts";
import { runScheduledTasks } from "./scheduled.ts";

export { EventLogObject } from "./delivery/event-log/event-log-object.ts";
export { GuessLimitObject } from "./features/people/guess-limit-object.ts";
export { RequestRateObject } from "./features/quotas/request-rate-object.ts";
export { RequestLogObject } from "./features/request-log/request-log-object.ts";
export { InboxFanOut } from "./features/room-content/inbox-updates.ts";
export { InboxObject, RoomObject, SubscriberObject } from "./objects.ts";
export { Isolates } from "./sandbox/runners/loader-runner.ts";
export { ScheduledTasks } from "./scheduled.ts";

declare global {
  namespace Cloudflare {
    interface GlobalProps {
      /** The `exports` of "cloudflare:workers". */
      mainModule: typeof import("./index.ts");
    }
  }
}

async function handleFetch(request: Request, env: Env, execution: ExecutionContext): Promise<Response> {
  try {
    return await app.fetch(admit(request, env), env, execution);
  } catch (error) {
    return withoutCors(failure(toAppError(error, "Server"), crypto.randomUUID()));
  }
}
export default {
  fetch: handleFetch,
  scheduled: (_, env) => {
    const now = Date.now();
    return runScheduledTasks(env, now, (names) => exports.ScheduledTasks.run(names, now));
  },
} satisfies ExportedHandler<Env>;
