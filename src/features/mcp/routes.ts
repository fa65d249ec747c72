/** `POST /mcp`: the Model Context Protocol over streamable HTTP. Each request stands for itself: there are no sessions. */

import { AppError, ERROR_CODES } from "@atrium/contract/errors.ts";
import type { Described } from "@atrium/contract/openapi/described.ts";
import type { ExecutionContext } from "hono";
import type { Env } from "../../env.ts";
import { type Endpoint, endpointsFor } from "../../http/endpoint.ts";
import { toAppError } from "../../http/envelope.ts";
import type { EnvelopeEndpoint, RequestHandler } from "../../http/pipeline.ts";
import { explain, parseJson, readBody, refuseOverflow } from "../../http/request-input.ts";
import { withCors } from "../../http/security.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import { claimedAccountOf } from "../accounts/verify-key.ts";
import type { AgentContext } from "./call-operation.ts";
import { accepted, ClientMessage, isStateless, RPC, RpcError, rpcFailure, rpcResult } from "./json-rpc.ts";
import { mcpMethods } from "./methods.ts";

const refusal = (message: string) => new AppError("Server", "BAD_REQUEST", message);

const isEnvelope = <C extends RequestContext>(endpoint: Endpoint<C>): endpoint is EnvelopeEndpoint<C> =>
  endpoint.kind === "envelope";

type Methods<C extends AgentContext> = ReturnType<typeof mcpMethods<C>>;

export function createMcp<C extends AgentContext>(
  loadEndpoints: () => Promise<readonly Endpoint<C>[]>,
  describe: () => Promise<Described>,
  handleRequest: RequestHandler<C>,
): (request: Request, env: Env, execution: ExecutionContext) => Promise<Response> {
  let methods: Methods<C> | undefined;
  const endpoint = endpointsFor<C>({ module: "Server" }).rawEndpoint({
    method: "POST",
    path: "/mcp",
    operation: "mcp",
    module: "Server",
    right: "credential",
    summary: "Use the API as an agent",
    errors: [],
    answers: { 200: "The response to the message.", 202: "The notification was received." },
    respond: async (ctx, _, request) => {
      methods ??= mcpMethods(await describe(), (await loadEndpoints()).filter(isEnvelope));
      return withCors(await answer(methods, ctx, request));
    },
  });
  return (request, env, execution) =>
    handleRequest(endpoint, {
      request,
      env,
      execution,
      params: { accountId: claimedAccountOf(request) ?? "" },
    });
}

async function answer<C extends AgentContext>(
  methods: Methods<C>,
  ctx: C,
  request: Request,
): Promise<Response> {
  let message: ClientMessage | null = null;
  let stateless: boolean;
  try {
    message = await readMessage(request);
    stateless = isStateless(request.headers, message);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { status } = ERROR_CODES[error.error.code];
    return rpcFailure(status, message?.id ?? null, error, ctx.requestId);
  }
  const { id, method, params } = message;
  if (id === undefined || method === undefined) return accepted();
  try {
    return rpcResult(id, await methods(ctx, method, params, stateless));
  } catch (error) {
    const refused = asRpcError(ctx, error, stateless);
    const status = stateless && refused.code === RPC.methodNotFound ? 404 : 200;
    return rpcFailure(status, id, refused, ctx.requestId);
  }
}

/** Parses a message. Throws an {@link RpcError} for anything else. */
async function readMessage(request: Request): Promise<ClientMessage> {
  let body: unknown;
  try {
    const bytes = await readBody(request, "Server");
    body = parseJson(bytes, request.headers.get("Content-Type"), "Server");
    refuseOverflow(body, "The message", "Server");
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new RpcError(RPC.parseError, error);
  }
  const parsed = ClientMessage.safeParse(body);
  if (!parsed.success) throw new RpcError(RPC.invalidRequest, refusal(explain(parsed.error, "The message")));
  return parsed.data;
}

function asRpcError(ctx: RequestContext, error: unknown, isStateless: boolean): RpcError {
  if (error instanceof RpcError) return error;
  const refused = toAppError(error, "Server");
  if (refused.code === "NOT_FOUND" && !isStateless) return new RpcError(RPC.resourceNotFound, refused);
  if (refused.code !== "INTERNAL_ERROR") return new RpcError(RPC.invalidParams, refused);
  ctx.log("A method failed", error);
  return new RpcError(RPC.internalError, refused);
}
