/** The corridor of `/dashboard/api`: like that of `/v1`, but for people, and for our own pages alone. */
import type * as z from "zod";
import { type Env, jwtSecrets } from "../config.ts";
import { checkBody, parseJson, readBody } from "../http/body.ts";
import { requireSameOrigin } from "../http/csrf.ts";
import { failure, success, withoutCors } from "../http/envelope.ts";
import { toAppError } from "../http/error-response.ts";
import { limitAuthFailures, limitDashboardRequests, limitPasswordAttempts } from "../http/rate-limit.ts";
import { checkPath } from "../http/validate.ts";
import type { DashboardContext, DashboardResult, PersonContext } from "../people/person-context.ts";
import { cookieSecretOf, signInCookieOf } from "../people/sign-in-cookie.ts";
import { type SignInSession, verifySignIn } from "../people/verify-sign-in.ts";
import { openDatabase } from "../platform/d1.ts";
import type { Module } from "../platform/error-codes.ts";
import { AppError } from "../platform/errors.ts";
import { logError } from "../platform/log.ts";

interface Input<Body> {
  readonly params: Readonly<Record<string, string>>;
  readonly body: Body;
}

interface Description {
  readonly method: "GET" | "POST" | "PATCH";
  /** Below `/dashboard/api`. */
  readonly path: string;
  readonly module: Module;
  readonly status: 200 | 201;
  /** `description` of a success. */
  readonly done: string;
}

/** A door as its feature writes it, with its input typed by its schema. */
interface DashboardEndpointDefinition<V extends DashboardContext, Body, Data extends object>
  extends Description {
  readonly body?: z.ZodType<Body>;
  readonly handle: (visit: V, input: Input<Body>) => Promise<DashboardResult<Data>>;
}

/** A door of any kind, as the corridor sees it. */
export type DashboardEndpoint = Description & {
  readonly body: z.ZodType | undefined;
} & (
    | {
        readonly access: "anyone";
        handle(visit: DashboardContext, input: Input<unknown>): Promise<DashboardResult<object>>;
      }
    | {
        readonly access: "person";
        handle(visit: PersonContext, input: Input<unknown>): Promise<DashboardResult<object>>;
      }
  );

// The corridor hands in what it parsed with the very schema: here the types are erased, there rejoined.

/** Declares a door for whoever comes. */
export const publicEndpoint = <Body, Data extends object>({
  body,
  handle,
  ...rest
}: DashboardEndpointDefinition<DashboardContext, Body, Data>): DashboardEndpoint => ({
  ...rest,
  access: "anyone",
  body,
  handle: handle as never,
});

/** Declares a door for those who are signed in. */
export const personEndpoint = <Body, Data extends object>({
  body,
  handle,
  ...rest
}: DashboardEndpointDefinition<PersonContext, Body, Data>): DashboardEndpoint => ({
  ...rest,
  access: "person",
  body,
  handle: handle as never,
});

export interface DashboardCall {
  readonly request: Request;
  readonly env: Env;
  readonly params: Readonly<Record<string, string>>;
}

/** Answers a call; never rejects. */
export async function handleDashboardRequest(
  door: DashboardEndpoint,
  call: DashboardCall,
): Promise<Response> {
  const requestId = crypto.randomUUID();
  try {
    const { data, cookie } = await enter(door, call);
    const headers: Record<string, string> = cookie === undefined ? {} : { "Set-Cookie": cookie };
    return withoutCors(success(door.status, door.done, data, requestId, headers));
  } catch (error) {
    const refusal = toAppError(error, door.module);
    if (refusal.code === "INTERNAL_ERROR")
      logError("A dashboard request failed", { request: requestId }, error);
    return withoutCors(failure(refusal, requestId));
  }
}

async function enter(
  door: DashboardEndpoint,
  { request, env, params }: DashboardCall,
): Promise<DashboardResult<object>> {
  requireSameOrigin(request);
  const url = new URL(request.url);
  checkPath(url.pathname, door.module);
  const visit: DashboardContext = {
    db: openDatabase(env.DB),
    cookie: signInCookieOf(request),
    cookieSecret: cookieSecretOf(jwtSecrets(env)[0]),
    now: Date.now,
    newId: () => crypto.randomUUID(),
    limitPasswordAttempts: (subject) => limitPasswordAttempts(env, request, subject),
  };
  const read = async () => ({ params, body: await bodyOf(door, request) });
  if (door.access === "anyone") {
    await limitDashboardRequests(env, request, null);
    return door.handle(visit, await read());
  }
  const person = await whoIsIn(visit);
  if (person === null) {
    await limitAuthFailures(env, request);
    throw new AppError("Auth", "UNAUTHORIZED", "Nobody is signed in here; sign in first");
  }
  await limitDashboardRequests(env, request, person.personId);
  return door.handle({ ...visit, person }, await read());
}

/** Read anew each time: what a person sees of itself is never behind. */
const whoIsIn = async ({ db, cookie, cookieSecret, now }: DashboardContext): Promise<SignInSession | null> =>
  cookie === null
    ? null
    : verifySignIn(cookie, { db, secret: cookieSecret, now: now(), suffices: () => false });

async function bodyOf(door: DashboardEndpoint, request: Request): Promise<unknown> {
  if (door.body === undefined) return undefined;
  const bytes = await readBody(request, door.module);
  return checkBody(
    door.body,
    parseJson(bytes, request.headers.get("Content-Type"), door.module),
    door.module,
  );
}
