/** The first half of the corridor: who calls, how often, whether they may; and what commands are given then. */
import type { ExecutionContext } from "hono";
import { type Env, jwtSecrets, webhookDevTargets } from "../config.ts";
import type { Actor, RequestContext } from "../context/context.ts";
import { subscriberGateway } from "../delivery/subscriber-gateway.ts";
import { openBlobs } from "../files/storage/blobs.ts";
import { cookieSecretOf } from "../people/sign-in-cookie.ts";
import { openDatabase } from "../platform/d1.ts";
import { AppError } from "../platform/errors.ts";
import { logError } from "../platform/log.ts";
import { roomGateway } from "../realtime/gateway.ts";
import { selectRunner } from "../sandbox/runners/select-runner.ts";
import { tokensFor } from "../users/tokens.ts";
import { authenticate } from "./authenticate.ts";
import { admits, type Endpoint } from "./endpoint.ts";
import { addressOf, limitAuthFailures, limitRequests } from "./rate-limit.ts";

/** A request on its way, with what routing found in its path. */
export interface Call {
  readonly request: Request;
  readonly env: Env;
  readonly execution: ExecutionContext;
  readonly params: Readonly<Record<string, string>>;
}

const forbidden = (why: string) => new AppError("Auth", "FORBIDDEN", why);

/** Finds out who calls and whether they may, counts the call, and opens its context. */
export async function createRequestContext(
  endpoint: Endpoint,
  call: Call,
  requestId: string,
): Promise<RequestContext> {
  const { request, env, execution, params } = call;
  const db = openDatabase(env.DB);
  const secrets = jwtSecrets(env);
  const tokens = tokensFor(secrets);
  const now = Date.now;
  const defer = (work: Promise<unknown>) =>
    execution.waitUntil(
      work.catch((error) => logError("Deferred work failed", { request: requestId }, error)),
    );
  const accountId = params.accountId ?? "";
  const actor = await identify(endpoint, request, env, () =>
    authenticate(request, {
      db,
      tokens,
      cookieSecret: () => cookieSecretOf(secrets[0]),
      accountId,
      now,
      defer,
    }),
  );
  await limitRequests(env, actor);
  if (actor.type !== "anyone" && actor.accountId !== accountId) {
    throw forbidden("The credential belongs to another account than the one in the path");
  }
  if (!admits(endpoint.access, actor)) {
    throw forbidden("A user's token does not open this endpoint; use the organization's API key");
  }
  return {
    requestId,
    accountId,
    actor,
    db,
    tokens,
    rooms: roomGateway(env),
    subscribers: subscriberGateway(env),
    runner: { deploy: async (script) => selectRunner(env).deploy(script) },
    blobs: openBlobs(env.FILES),
    origin: new URL(request.url).origin,
    webhookDevTargets: webhookDevTargets(env),
    now,
    newId: () => crypto.randomUUID(),
    log: (message, error) => logError(message, { account: accountId, request: requestId }, error),
    defer,
    idempotencyKey: null,
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
    if (error instanceof AppError) await limitAuthFailures(env, request);
    throw error;
  }
}
