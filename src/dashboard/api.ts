/** The corridor of `/dashboard/api`: like that of `/v1`, but for people, and for our own pages alone. */
import type * as z from "zod";
import { type Env, jwtSecrets } from "../config.ts";
import { checkBody, parseJson, readBody } from "../http/body.ts";
import { mustBeOurOwn } from "../http/csrf.ts";
import { failure, forOwnPages, success } from "../http/envelope.ts";
import { asAppError, logLine } from "../http/error-response.ts";
import { countAuthFailure, countPasswordTry, countVisit } from "../http/rate-limit.ts";
import { checkPath } from "../http/validate.ts";
import type { PersonVisit, Reply, Visit } from "../people/person-context.ts";
import { cookieSecretOf, sessionCookieOf } from "../people/sign-in-cookie.ts";
import { type SignedIn, verifySession } from "../people/verify-sign-in.ts";
import { openDatabase } from "../platform/d1.ts";
import { AppError, type Module } from "../platform/errors.ts";

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
interface DoorDefinition<V extends Visit, Body, Data extends object> extends Description {
  readonly body?: z.ZodType<Body>;
  readonly handle: (visit: V, input: Input<Body>) => Promise<Reply<Data>>;
}

/** A door of any kind, as the corridor sees it. */
export type Door = Description & {
  readonly body: z.ZodType | undefined;
} & (
    | { readonly access: "anyone"; handle(visit: Visit, input: Input<unknown>): Promise<Reply<object>> }
    | { readonly access: "person"; handle(visit: PersonVisit, input: Input<unknown>): Promise<Reply<object>> }
  );

// The corridor hands in what it parsed with the very schema: here the types are erased, there rejoined.

/** Declares a door for whoever comes. */
export const openDoor = <Body, Data extends object>({
  body,
  handle,
  ...rest
}: DoorDefinition<Visit, Body, Data>): Door => ({ ...rest, access: "anyone", body, handle: handle as never });

/** Declares a door for those who are signed in. */
export const personDoor = <Body, Data extends object>({
  body,
  handle,
  ...rest
}: DoorDefinition<PersonVisit, Body, Data>): Door => ({
  ...rest,
  access: "person",
  body,
  handle: handle as never,
});

export interface DoorCall {
  readonly request: Request;
  readonly env: Env;
  readonly params: Readonly<Record<string, string>>;
}

/** Answers a call; never rejects. */
export async function answerAt(door: Door, call: DoorCall): Promise<Response> {
  const requestId = crypto.randomUUID();
  try {
    const { data, cookie } = await enter(door, call);
    const headers: Record<string, string> = cookie === undefined ? {} : { "Set-Cookie": cookie };
    return forOwnPages(success(door.status, door.done, data, requestId, headers));
  } catch (error) {
    const refusal = asAppError(error, door.module);
    if (refusal.code === "INTERNAL_ERROR")
      console.error(logLine(requestId, "A dashboard's request failed", error));
    return forOwnPages(failure(refusal, requestId));
  }
}

async function enter(door: Door, { request, env, params }: DoorCall): Promise<Reply<object>> {
  mustBeOurOwn(request);
  const url = new URL(request.url);
  checkPath(url.pathname, door.module);
  const visit: Visit = {
    db: openDatabase(env.DB),
    origin: url.origin,
    cookie: sessionCookieOf(request),
    cookieSecret: cookieSecretOf(jwtSecrets(env)[0]),
    now: Date.now,
    newId: () => crypto.randomUUID(),
    countPasswordTry: (whom) => countPasswordTry(env, request, whom),
  };
  const read = async () => ({ params, body: await bodyOf(door, request) });
  if (door.access === "anyone") {
    await countVisit(env, request, null);
    return door.handle(visit, await read());
  }
  const person = await whoIsIn(visit);
  if (person === null) {
    await countAuthFailure(env, request);
    throw new AppError("Auth", "UNAUTHORIZED", "Nobody is signed in here; sign in first");
  }
  await countVisit(env, request, person.personId);
  return door.handle({ ...visit, person }, await read());
}

/** Read anew each time: what a person sees of itself is never behind. */
const whoIsIn = async ({ db, cookie, cookieSecret, now }: Visit): Promise<SignedIn | null> =>
  cookie === null
    ? null
    : verifySession(cookie, { db, secret: cookieSecret, now: now(), suffices: () => false });

async function bodyOf(door: Door, request: Request): Promise<unknown> {
  if (door.body === undefined) return undefined;
  const bytes = await readBody(request, door.module);
  return checkBody(
    door.body,
    parseJson(bytes, request.headers.get("Content-Type"), door.module),
    door.module,
  );
}
