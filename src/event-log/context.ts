/** What reading the event log needs beyond a request. */
import type { RequestContext } from "../context/context.ts";
import type { EventLogGateway } from "./port/event-log-port.ts";

export interface EventLogContext extends RequestContext {
  readonly eventLog: EventLogGateway;
}
