/** Opens the context of a request: authenticates the caller, checks the rate limits and whether it may call. */
import type { ExecutionContext } from "hono";
import type { Env } from "../config.ts";
import type { Actor } from "../context/actor.ts";
import type { RequestContext } from "../context/context.ts";
import { openDatabase } from "../platform/d1.ts";
import { AppError } from "../platform/errors.ts";
import { logError } from "../platform/log.ts";
import { authenticate, type Scheme } from "./authenticate.ts";
import { type AnyEndpoint, admits, type Endpoint } from "./endpoint.ts";
import { addressOf, limitAuthFailures, limitRequests } from "./rate-limit.ts";

/** A request on its way, with what routing found in its path. */
export interface Call {
  readonly request: Request;
  readonly env: Env;
  readonly execution: ExecutionContext;
  readonly params: Readonly<Record<string, string>>;
}

/** What the pipeline does not know: how callers authenticate, and what endpoints need beyond a request. */
export interface Composition<C extends RequestContext> {
  /** In the order in which they are tried. */
  schemesOf(env: Env): readonly Scheme[];
  contextOf(base: RequestContext, env: Env): C;
}

const forbidden = (why: string) => new AppError("Auth", "FORBIDDEN", why);

/** UNAUTHORIZED, RATE_LIMITED or FORBIDDEN unless the caller may call `endpoint` now. */
export async function createRequestContext<C extends RequestContext>(
  composition: Composition<C>,
  endpoint: Endpoint<C>,
  call: Call,
  requestId: string,
): Promise<C> {
  const { request, env, execution, params } = call;
  const db = openDatabase(env.DB);
  const schemes = composition.schemesOf(env);
  const now = Date.now;
  const defer = (work: Promise<unknown>) =>
    execution.waitUntil(
      work.catch((error) => logError("Deferred work failed", { request: requestId }, error)),
    );
  const accountId = params.accountId ?? "";
  const actor = await identify(endpoint, request, env, () =>
    authenticate(request, schemes, { db, accountId, now, defer }),
  );
  await limitRequests(env, actor);
  if (actor.type !== "anyone" && actor.accountId !== accountId) {
    throw forbidden("The credential belongs to another account than the one in the path");
  }
  if (!admits(endpoint.access, actor)) {
    throw forbidden("A user's token does not open this endpoint; use the organization's API key");
  }
  const base: RequestContext = {
    requestId,
    accountId,
    actor,
    db,
    origin: new URL(request.url).origin,
    now,
    newId: () => crypto.randomUUID(),
    log: (message, error) => logError(message, { account: accountId, request: requestId }, error),
    defer,
    idempotencyKey: null,
    commit: (statements) => db.run(statements),
  };
  return composition.contextOf(base, env);
}

async function identify(
  endpoint: Pick<AnyEndpoint, "access">,
  request: Request,
  env: Env,
  authenticated: () => Promise<Actor>,
): Promise<Actor> {
  if (endpoint.access === "public") return { type: "anyone", address: addressOf(request) };
  try {
    return await authenticated();
  } catch (error) {
    if (error instanceof AppError) await limitAuthFailures(env, request);
    throw error;
  }
}
