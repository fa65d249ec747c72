/** The Worker: its fetch and cron handlers, and the classes that the platform instantiates by name. */
import { exports, WorkerEntrypoint } from "cloudflare:workers";
import { app } from "./app.ts";
import type { Env } from "./env.ts";
import { failure, toAppError } from "./http/envelope.ts";
import { admit, isOfApi, withoutCors } from "./http/security.ts";
import { logError } from "./platform/log.ts";

export { EventLogObject } from "./delivery/event-log/event-log-object.ts";
export { InboxFanOut } from "./features/inbox/fan-out.ts";
export { GuessLimitObject } from "./features/people/guess-limit-object.ts";
export { RequestRateObject } from "./features/quotas/request-rate-object.ts";
export { RequestLogObject } from "./features/request-log/request-log-object.ts";
export { InboxObject, RoomObject, SubscriberObject } from "./objects.ts";
export { Isolates } from "./sandbox/runners/loader-runner.ts";

declare global {
  namespace Cloudflare {
    interface GlobalProps {
      /** The `exports` of "cloudflare:workers". */
      mainModule: typeof import("./index.ts");
    }
  }
}

/** Runs tasks in an invocation of their own, for which the platform counts calls and queries anew. */
export class ScheduledTasks extends WorkerEntrypoint<Env> {
  async run(names: readonly string[], now: number): Promise<void> {
    const { runHere } = await import("./scheduled.ts");
    await runHere(this.env, names, now);
  }
}

async function handleFetch(request: Request, env: Env, execution: ExecutionContext): Promise<Response> {
  let isAdmitted = false;
  try {
    const admitted = admit(request, env);
    isAdmitted = true;
    return await app.fetch(admitted, env, execution);
  } catch (error) {
    const requestId = crypto.randomUUID();
    const refusal = toAppError(error, "Server");
    if (refusal.code === "INTERNAL_ERROR") logError("A request failed", { request: requestId }, error);
    const answer = failure(refusal, requestId);
    return isAdmitted && isOfApi(new URL(request.url).pathname) ? answer : withoutCors(answer);
  }
}
export default {
  fetch: handleFetch,
  scheduled: async (_, env) => {
    const { runScheduledTasks } = await import("./scheduled.ts");
    const now = Date.now();
    await runScheduledTasks(env, now, (names) => exports.ScheduledTasks.run(names, now));
  },
} satisfies ExportedHandler<Env>;
