/** Authenticates and authorizes a request (spec section 5). Each scheme recognizes one kind of credential. */
import type { Env } from "../config.ts";
import type { Actor } from "../context/actor.ts";
import type { Database } from "../platform/d1.ts";
import { AppError } from "../platform/errors.ts";
import type { Access } from "./endpoint.ts";
import { addressOf, limitAuthFailures, limitRequests } from "./rate-limit.ts";

/** The ports of authentication schemes. */
export interface AuthPorts {
  readonly db: Database;
  /** The organization in the path. */
  readonly accountId: string;
  /** Epoch milliseconds. */
  now(): number;
  defer(work: Promise<unknown>): void;
}

/** Verifies one kind of credential. Returns `undefined` if the request has none of this kind, null if it is invalid. */
export type Scheme = (request: Request, ports: AuthPorts) => Promise<Actor | null | undefined>;

const BEARER = /^Bearer +([^\s]+) *$/i;

/** The credential in `Authorization: Bearer`, or null. */
export const bearerOf = (request: Request): string | null =>
  BEARER.exec(request.headers.get("Authorization") ?? "")?.[1] ?? null;

/** The actor according to the first scheme that applies. UNAUTHORIZED without a valid credential. */
export async function authenticate(
  request: Request,
  schemes: readonly Scheme[],
  ports: AuthPorts,
): Promise<Actor> {
  for (const scheme of schemes) {
    const actor = await scheme(request, ports);
    if (actor === null)
      throw new AppError(
        "Auth",
        "UNAUTHORIZED",
        "The credential is malformed, unknown or expired; create a new one",
      );
    if (actor !== undefined) return actor;
  }
  throw new AppError(
    "Auth",
    "UNAUTHORIZED",
    "Send Authorization: Bearer <Base64 of accountId:apiKey>; `npm run account -- create NAME` creates an account and a key",
  );
}

const forbidden = (why: string) => new AppError("Auth", "FORBIDDEN", why);

/** The actor, if it may call an endpoint with this access. Else UNAUTHORIZED, RATE_LIMITED or FORBIDDEN. */
export async function authorize(
  access: Access,
  request: Request,
  env: Env,
  schemes: readonly Scheme[],
  ports: AuthPorts,
): Promise<Actor> {
  const actor: Actor =
    access === "public"
      ? { type: "anyone", address: addressOf(request) }
      : await authenticate(request, schemes, ports).catch(async (error: unknown) => {
          if (error instanceof AppError) await limitAuthFailures(env, request);
          throw error;
        });
  await limitRequests(env, actor);
  if (actor.type !== "anyone" && actor.accountId !== ports.accountId) {
    throw forbidden("The credential does not belong to the account in the path");
  }
  if (access === "organization" && actor.type === "user") {
    throw forbidden("A user's token cannot call this endpoint; use the organization's API key");
  }
  return actor;
}
