/** What reading the event log needs beyond a request. */

import type { EventLogGateway } from "../../delivery/event-log/port/event-log-port.ts";
import type { RequestContext } from "../../platform/context/context.ts";

export interface EventLogContext extends RequestContext {
  readonly eventLog: EventLogGateway;
}
