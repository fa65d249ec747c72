/** What the endpoints of the request log need beside what every request has. */
import type { RequestContext } from "../../platform/context/context.ts";
import type { RequestLogGateway } from "./port/request-log-port.ts";

export interface RequestLogContext extends RequestContext {
  readonly requestLog: RequestLogGateway;
}
