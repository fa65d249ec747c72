/** The corridor that every request under /v1 walks: who, how often, what exactly, do it, answer. */
import type { ExecutionContext } from "hono";
import type { Actor, Ctx } from "../context.ts";
import { openDatabase } from "../database.ts";
import { type Env, jwtSecrets } from "../env.ts";
import { AppError } from "../errors.ts";
import { roomGateway } from "../realtime/gateway.ts";
import { tokensFor } from "../users/tokens.ts";
import { authenticate } from "./authenticate.ts";
import { checkBody, parseJson, readBody } from "./body.ts";
import { admits, type Endpoint } from "./endpoint.ts";
import { failure, success } from "./envelope.ts";
import { once, openReceipt } from "./idempotency.ts";
import { asAppError, logLine } from "./on-error.ts";
import { addressOf, countAuthFailure, countRequest } from "./rate-limit.ts";
import { checkPath, checkQuery } from "./validate.ts";

/** A request on its way, with what routing found in its path. */
export interface Call {
  readonly request: Request;
  readonly env: Env;
  readonly execution: ExecutionContext;
  readonly params: Readonly<Record<string, string>>;
}

const NO_BODY = new Uint8Array();

/** Answers a call to `endpoint`; never rejects. */
export async function serve(endpoint: Endpoint, call: Call): Promise<Response> {
  const requestId = crypto.randomUUID();
  try {
    const ctx = await openContext(endpoint, call, requestId);
    const { pathname, search } = new URL(call.request.url);
    checkPath(pathname, endpoint.module);
    if (endpoint.kind === "raw") {
      const response = await endpoint.respond(
        ctx,
        { params: call.params, query: {}, body: undefined },
        call.request,
      );
      if (response.status !== 101) response.headers.set("X-Request-Id", requestId);
      return response;
    }
    const query = endpoint.query === undefined ? {} : checkQuery(endpoint.query, search, endpoint.module);
    const bytes = endpoint.method === "GET" ? NO_BODY : await readBody(call.request, endpoint.module);
    const body =
      endpoint.body === undefined
        ? undefined
        : checkBody(
            endpoint.body,
            parseJson(bytes, call.request.headers.get("Content-Type"), endpoint.module),
            endpoint.module,
          );
    const input = { params: call.params, query, body };
    const receipt =
      endpoint.method === "POST"
        ? await openReceipt(call.request, bytes, {
            ...endpoint,
            actor: ctx.actor,
            db: ctx.db,
            now: ctx.now(),
          })
        : null;
    if (receipt === null)
      return success(endpoint.status, endpoint.done, await endpoint.handle(ctx, input), requestId);
    const { data, replayed } = await once(receipt, ctx, (own) => endpoint.handle(own, input));
    return success(
      endpoint.status,
      endpoint.done,
      data,
      requestId,
      replayed ? { "Idempotency-Replayed": "true" } : {},
    );
  } catch (error) {
    const refusal = asAppError(error, endpoint.module);
    if (refusal.code === "INTERNAL_ERROR") console.error(logLine(requestId, "A request failed", error));
    return failure(refusal, requestId);
  }
}

/** Finds out who calls and whether they may, counts the call, and opens its context. */
async function openContext(endpoint: Endpoint, call: Call, requestId: string): Promise<Ctx> {
  const { request, env, execution, params } = call;
  const db = openDatabase(env.DB);
  const tokens = tokensFor(jwtSecrets(env));
  const now = Date.now;
  const defer = (work: Promise<unknown>) =>
    execution.waitUntil(
      work.catch((error) => console.error(logLine(requestId, "Deferred work failed", error))),
    );
  const accountId = params.accountId ?? "";
  const actor = await identify(endpoint, request, env, () =>
    authenticate(request, { db, tokens, now, defer }),
  );
  await countRequest(env, actor);
  if (actor.type !== "anyone" && actor.accountId !== accountId) {
    throw new AppError(
      "Auth",
      "FORBIDDEN",
      "The credential belongs to another account than the one in the path",
    );
  }
  if (!admits(endpoint.access, actor)) {
    throw new AppError(
      "Auth",
      "FORBIDDEN",
      "A user's token does not open this endpoint; use the organization's API key",
    );
  }
  return {
    requestId,
    accountId,
    actor,
    db,
    tokens,
    rooms: roomGateway(env),
    now,
    newId: () => crypto.randomUUID(),
    log: (message, error) => console.error(logLine(requestId, message, error)),
    defer,
    commit: (statements) => db.run(statements),
  };
}

async function identify(
  endpoint: Endpoint,
  request: Request,
  env: Env,
  authenticated: () => Promise<Actor>,
): Promise<Actor> {
  if (endpoint.access === "public") return { type: "anyone", address: addressOf(request) };
  try {
    return await authenticated();
  } catch (error) {
    if (error instanceof AppError && error.code === "UNAUTHORIZED") await countAuthFailure(env, request);
    throw error;
  }
}
