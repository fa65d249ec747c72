/** The Worker: its doors and its Durable Objects. */
import { app } from "./app.ts";
import type { Env } from "./env.ts";
import { keepHouse } from "./housekeeping.ts";

export { SubscriberObject } from "./events/subscriber-object.ts";
export { RoomObject } from "./realtime/room-object.ts";
export { Isolates } from "./workflows/isolates.ts";

export default {
  fetch: app.fetch,
  scheduled: (_, env) => keepHouse(env, Date.now()),
} satisfies ExportedHandler<Env>;
