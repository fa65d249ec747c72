/** Reads the request log. */
import { notFound } from "../../platform/errors.ts";
import type { RequestLogContext } from "./context.ts";
import type { RequestLogQuery } from "./schema.ts";
import { presentRequest } from "./schema.ts";

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
