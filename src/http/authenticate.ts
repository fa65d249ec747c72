/** Finds out who makes a request (spec section 5): each scheme recognizes one kind of credential. */
import type { Actor } from "../context/actor.ts";
import type { Database } from "../platform/d1.ts";
import { AppError } from "../platform/errors.ts";

/** What a scheme may use to verify a credential. */
export interface AuthPorts {
  readonly db: Database;
  /** The organization in the path. */
  readonly accountId: string;
  /** Epoch milliseconds. */
  now(): number;
  defer(work: Promise<unknown>): void;
}

/** Verifies one kind of credential: `undefined` when the request has none of this kind, null when it is invalid. */
export type Scheme = (request: Request, ports: AuthPorts) => Promise<Actor | null | undefined>;

const BEARER = /^Bearer +([^\s]+) *$/i;

/** The credential in `Authorization: Bearer`, or null. */
export const bearerOf = (request: Request): string | null =>
  BEARER.exec(request.headers.get("Authorization") ?? "")?.[1] ?? null;

/** The actor by the first scheme that applies; UNAUTHORIZED without a credential, or with an invalid one. */
export async function authenticate(
  request: Request,
  schemes: readonly Scheme[],
  ports: AuthPorts,
): Promise<Actor> {
  for (const scheme of schemes) {
    const actor = await scheme(request, ports);
    if (actor === null)
      throw new AppError("Auth", "UNAUTHORIZED", "The credential is malformed, unknown or expired");
    if (actor !== undefined) return actor;
  }
  throw new AppError(
    "Auth",
    "UNAUTHORIZED",
    "Send Authorization: Bearer <Base64 of accountId:apiKey>; `npm run account -- create NAME` creates an account and a key",
  );
}
