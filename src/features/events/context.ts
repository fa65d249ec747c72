/** What reading the event log needs beyond a request. */

import type { EventLogs } from "../../delivery/event-log/shards.ts";
import type { RequestContext } from "../../platform/context/context.ts";

export interface EventLogContext extends RequestContext {
  readonly eventLogs: EventLogs;
}
