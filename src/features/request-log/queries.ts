/** Reads the request log. */

import { notFound } from "@atrium/contract/errors.ts";
import { presentRequest, type RequestLogQuery } from "@atrium/contract/rest/request-log.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import type { RequestLogs } from "./request-log-object.ts";

export interface RequestLogContext extends RequestContext {
  readonly requestLogs: RequestLogs;
}

export async function listRequests(ctx: RequestLogContext, query: RequestLogQuery) {
  const { requests, before } = await ctx.requestLogs(ctx.accountId).list(query);
  return { requests: requests.map(presentRequest), cursor: before === null ? null : String(before) };
}

/** NOT_FOUND when no request with this ID is in the log. */
export async function getRequest(ctx: RequestLogContext, id: string) {
  const found = await ctx.requestLogs(ctx.accountId).find(id);
  if (found === null) throw notFound("Accounts", "Request");
  return { request: presentRequest(found) };
}
