/** The Worker: its doors and its Durable Objects. */
import { app } from "./app.ts";
import type { Env } from "./config.ts";
import { runScheduledTasks } from "./scheduled.ts";

export { SubscriberObject } from "./delivery/subscriber/subscriber-object.ts";
export { RoomObject } from "./realtime/room-object.ts";
export { Isolates } from "./sandbox/runners/isolates.ts";

export default {
  fetch: app.fetch,
  scheduled: (_, env) => runScheduledTasks(env, Date.now()),
} satisfies ExportedHandler<Env>;
