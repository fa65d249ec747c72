/** The demo's doors: its page, and the credentials of those who open it. Beside the API, not a part of it. */
import type { ExecutionContext } from "hono";
import * as z from "zod";
import type { Env } from "../config.ts";
import { endpoint } from "../http/endpoint.ts";
import { failure } from "../http/envelope.ts";
import { toAppError } from "../http/error-response.ts";
import { handleRequest } from "../http/pipeline.ts";
import { limitDemoVisitors } from "../http/rate-limit.ts";
import { withPageHeaders } from "../http/security-headers.ts";
import { AppError } from "../platform/errors.ts";
import { logError } from "../platform/log.ts";
import { Name } from "../platform/text.ts";
import { Token } from "../users/schema.ts";
import { createVisitor } from "./commands.ts";

/** Answered through the same corridor as the API's endpoints, for the organization that the demo belongs to. */
const visitors = endpoint({
  method: "POST",
  path: "/demo/visitors",
  operation: "createDemoVisitor",
  module: "Users",
  access: "public",
  summary: "Become a user of the demo's room",
  errors: ["NOT_FOUND"],
  query: z.object({ name: Name.optional() }),
  status: 201,
  done: "Visitor created",
  data: z.object({ token: Token }),
  handle: (ctx, { query }) => createVisitor(ctx, query.name),
});

/** The organization that the demo belongs to; NOT_FOUND where there is no demo. */
function demoAccountId({ DEMO_ACCOUNT_ID }: Env): string {
  if (DEMO_ACCOUNT_ID) return DEMO_ACCOUNT_ID;
  throw new AppError(
    "Server",
    "NOT_FOUND",
    "There is no demo here: `npm start` brings one, and a deployment has one once the variable DEMO_ACCOUNT_ID names the organization that it belongs to",
  );
}

async function answering(work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    const requestId = crypto.randomUUID();
    const refusal = toAppError(error, "Server");
    if (refusal.code === "INTERNAL_ERROR")
      logError("A request of the demo failed", { request: requestId }, error);
    return failure(refusal, requestId);
  }
}

/** `POST /demo/visitors`: a token for whoever asks, at a rate that lets nobody fill the room. */
export const handleVisitor = (request: Request, env: Env, execution: ExecutionContext): Promise<Response> =>
  answering(async () => {
    const accountId = demoAccountId(env);
    await limitDemoVisitors(env, request);
    return handleRequest(visitors, { request, env, execution, params: { accountId } });
  });

/** The page and its files, which may load, run and reach nothing but this service. */
export const demoPage = (request: Request, env: Env): Promise<Response> =>
  answering(async () => {
    demoAccountId(env);
    const asset = await env.ASSETS.fetch(request);
    if (asset.status === 404) throw new AppError("Server", "NOT_FOUND", "The demo has no such file");
    return withPageHeaders(asset, new URL(request.url));
  });
