/** What the endpoints of the request log need beside what every request has. */
import type { RequestContext } from "../../platform/context/context.ts";
import type { RequestLogs } from "./request-log-object.ts";

export interface RequestLogContext extends RequestContext {
  readonly requestLogs: RequestLogs;
}
