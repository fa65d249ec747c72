/** The request pipeline of `/dashboard/api`: like that of `/v1`, but for people, and same-origin only. */

import { AppError } from "@atrium/contract/errors.ts";
import type { Env } from "../../env.ts";
import { delayRefusal, limitAuthFailures, limitClient, limitCredential } from "../../http/authenticate.ts";
import { failure, success, toAppError } from "../../http/envelope.ts";
import type { Call } from "../../http/pipeline.ts";
import { checkBody, checkPath, parseJson, readBody } from "../../http/request-input.ts";
import { originOf, requireSameOrigin, withoutCors } from "../../http/security.ts";
import {
  hasPasswords,
  jwtSecrets,
  oidcSettings,
  quotaDefaults,
  signUpPolicy,
  turnstileSettings,
} from "../../platform/config.ts";
import { openDirectory, openTenant } from "../../platform/d1/databases.ts";
import { choosePlace } from "../../platform/d1/place.ts";
import { logError } from "../../platform/log.ts";
import { addressOf, clientOf } from "../../platform/network.ts";
import { mailOutbox } from "../mail/outbox.ts";
import { challengeFor } from "./challenge.ts";
import type { DashboardContext, DashboardEndpoint, DashboardResult } from "./context.ts";
import { browserCookieOf, cookieSecretOf, oidcCookieOf, signInCookieOf } from "./cookies.ts";
import { readSignIn, type SignInSession, signedHashOf } from "./sessions.ts";
import { signInLimits } from "./sign-in-limits.ts";

export async function handleDashboardRequest(endpoint: DashboardEndpoint, call: Call): Promise<Response> {
  const requestId = crypto.randomUUID();
  try {
    const { data, cookies = [] } = await enter(endpoint, call, requestId);
    const response = withoutCors(success(endpoint.status, endpoint.done, data, requestId));
    for (const cookie of cookies) response.headers.append("Set-Cookie", cookie);
    return response;
  } catch (error) {
    const appError = toAppError(error, endpoint.module);
    if (appError.code === "INTERNAL_ERROR")
      logError("A dashboard request failed", { request: requestId }, error);
    if (appError.code === "RATE_LIMITED") await delayRefusal(call.request);
    return withoutCors(failure(appError, requestId));
  }
}

async function enter(
  endpoint: DashboardEndpoint,
  { request, env, execution, params }: Call,
  requestId: string,
): Promise<DashboardResult<object>> {
  const origin = originOf(request, env);
  requireSameOrigin(request, origin);
  const url = new URL(request.url);
  checkPath(url.href, endpoint.module);
  const ctx: DashboardContext = {
    db: openDirectory(env),
    tenantOf: (accountId) => openTenant(env, accountId),
    requestId,
    origin,
    address: addressOf(request),
    userAgent: request.headers.get("User-Agent") ?? "",
    cookie: signInCookieOf(request),
    browserCookie: browserCookieOf(request),
    oidcCookie: oidcCookieOf(request),
    cookieSecret: cookieSecretOf(jwtSecrets(env)[0]),
    jwtSecrets: () => jwtSecrets(env),
    now: Date.now,
    newId: () => crypto.randomUUID(),
    quotaDefaults: quotaDefaults(env),
    signUpPolicy: () => signUpPolicy(env),
    oidc: () => oidcSettings(env),
    hasPasswords: hasPasswords(env),
    choosePlace: () => choosePlace(env),
    challenge: () => challengeFor(turnstileSettings(env), addressOf(request)),
    limits: signInLimits(env, clientOf(request)),
    mail: () => mailOutbox(env),
    defer: (work) => execution.waitUntil(work),
  };
  const person = endpoint.access === "person" ? await authenticatePerson(ctx, env, request) : null;
  if (person === null) await limitClient(env, request);
  const input = { params, body: await bodyOf(endpoint, request) };
  return endpoint.handle({ ...ctx, person } as never, input as never);
}

/** The signed-in person, read from D1 once the request is counted. UNAUTHORIZED or RATE_LIMITED. */
async function authenticatePerson(
  { db, cookie, cookieSecret, now }: DashboardContext,
  env: Env,
  request: Request,
): Promise<SignInSession> {
  const hash = cookie === null ? null : await signedHashOf(cookie, cookieSecret);
  if (hash !== null) await limitCredential(env, `session:${hash}`);
  const person = hash === null ? null : await readSignIn(db, hash, now());
  if (person !== null) return person;
  await limitAuthFailures(env, request);
  throw new AppError("Auth", "UNAUTHORIZED", "Not signed in; sign in first");
}

async function bodyOf({ body, module }: DashboardEndpoint, request: Request): Promise<unknown> {
  if (body === undefined) return undefined;
  const bytes = await readBody(request, module);
  return checkBody(body, parseJson(bytes, request.headers.get("Content-Type"), module), module);
}
