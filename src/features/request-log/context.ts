/** The ports of the request log, beside those of every request. */
import type { RequestContext } from "../../platform/d1/context.ts";
import type { RequestLogs } from "./request-log-object.ts";

export interface RequestLogContext extends RequestContext {
  readonly requestLogs: RequestLogs;
}
