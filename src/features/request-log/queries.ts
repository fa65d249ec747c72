/** Reads the request log. */
import { notFound } from "../../platform/errors.ts";
import type { RequestLogContext } from "./context.ts";
import type { RequestLogQuery } from "./schema.ts";
import { type ApiRequest, presentRequest } from "./schema.ts";

/** A page of the organization's latest requests, newest first. */
export async function listRequests(
  ctx: RequestLogContext,
  query: RequestLogQuery,
): Promise<{ requests: ApiRequest[]; cursor: string | null }> {
  const { requests, before } = await ctx.requestLogs(ctx.accountId).list(query);
  return { requests: requests.map(presentRequest), cursor: before === null ? null : String(before) };
}

/** NOT_FOUND when no request with this ID is in the log. */
export async function getRequest(ctx: RequestLogContext, id: string): Promise<{ request: ApiRequest }> {
  const found = await ctx.requestLogs(ctx.accountId).find(id);
  if (found === null) throw notFound("Accounts", "Request");
  return { request: presentRequest(found) };
}
