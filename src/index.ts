/** The Worker: its fetch and cron handlers, and the classes that the platform instantiates by name. */
import { app } from "./app.ts";
import type { Env } from "./config.ts";
import { runScheduledTasks } from "./scheduled.ts";

export { SubscriberObject } from "./delivery/subscriber/subscriber-object.ts";
export { GuessLimitObject } from "./people/limits/guess-limit-object.ts";
export { RoomObject } from "./realtime/room-object.ts";
export { Isolates } from "./sandbox/runners/isolates.ts";

declare global {
  namespace Cloudflare {
    interface GlobalProps {
      /** What `exports` of "cloudflare:workers" has. */
      mainModule: typeof import("./index.ts");
    }
  }
}

export default {
  fetch: app.fetch,
  scheduled: (_, env) => runScheduledTasks(env, Date.now()),
} satisfies ExportedHandler<Env>;
