/** Authenticates and authorizes a request (spec section 5). Each scheme recognizes one kind of credential. */

import type { Env } from "../env.ts";
import type { Actor } from "../platform/context/actor.ts";
import type { Database } from "../platform/d1/d1.ts";
import { AppError } from "../platform/errors.ts";
import { addressOf } from "../platform/network.ts";
import type { Access } from "./endpoint-definition.ts";
import {
  limitAccount,
  limitAuthFailures,
  limitClient,
  limitCredential,
  limitUser,
  waitForCredential,
} from "./rate-limit.ts";

/** The ports of authentication schemes. */
export interface AuthPorts {
  /** The database of people and API keys. */
  readonly directory: Database;
  /** The database of the organization in the path, which has the users of rooms. */
  readonly db: Database;
  /** The organization in the path. */
  readonly accountId: string;
  /** Counts a request for the organization. Throws RATE_LIMITED beyond its quota. */
  countRequest(isOfUser: boolean): void;
  /** Epoch milliseconds. */
  now(): number;
  defer(work: Promise<unknown>): void;
}

/** A credential that has the right form. Nothing shared was used to find that out. */
export interface Claim {
  /** Names the credential in its rate limit, and reveals nothing about it. */
  readonly credential: string;
  /** The organization that it says it belongs to; null when only {@link verify} can tell. */
  readonly accountId: string | null;
  /** True for a user's token: users have a share of the organization's requests, each and all together. */
  readonly isOfUser: boolean;
  /** True when this service issued it for sure: it has our signature, or was verified lately. */
  readonly isOurs: boolean;
  /** Whom it authenticates, by the database unless memory has the answer; null when it is not valid (any more). */
  verify(): Promise<Actor | null>;
}

/**
 * Recognizes one kind of credential, without the database. Returns `undefined` if the request has none of this kind,
 * null if it cannot be valid.
 */
export type Scheme = (request: Request, ports: AuthPorts) => Promise<Claim | null | undefined>;

const BEARER = /^Bearer +([^\s]+) *$/i;

/** The credential in `Authorization: Bearer`, or null. */
export const bearerOf = (request: Request): string | null =>
  BEARER.exec(request.headers.get("Authorization") ?? "")?.[1] ?? null;

const unauthorized = (why: string) => new AppError("Auth", "UNAUTHORIZED", why);
const forbidden = (why: string) => new AppError("Auth", "FORBIDDEN", why);

const invalid = () => unauthorized("The credential is malformed, unknown or expired; create a new one");
const foreign = () => forbidden("The credential does not belong to the account in the path");

/** The claim by the first scheme that applies. UNAUTHORIZED without a credential that can be valid. */
export async function claimOf(
  request: Request,
  schemes: readonly Scheme[],
  ports: AuthPorts,
): Promise<Claim> {
  for (const scheme of schemes) {
    const claim = await scheme(request, ports);
    if (claim === null) throw invalid();
    if (claim !== undefined) return claim;
  }
  throw unauthorized(
    "Send Authorization: Bearer <Base64 of accountId:apiKey>; `npm run account -- create NAME` creates an account and a key",
  );
}

/** Counts a request for its organization: at this location, and in the world. RATE_LIMITED above a limit. */
async function limitOrganization(env: Env, { accountId, countRequest }: AuthPorts, { isOfUser }: Claim) {
  await limitAccount(env, accountId, isOfUser);
  countRequest(isOfUser);
}

/**
 * The actor of a request. Every request is counted before the database is asked about its credential: one that we
 * issued for itself and its organization, any other one for its client. UNAUTHORIZED, FORBIDDEN for the credential of
 * another account, or RATE_LIMITED.
 */
async function authenticate(
  request: Request,
  env: Env,
  schemes: readonly Scheme[],
  ports: AuthPorts,
): Promise<Actor> {
  const countFailure = async (error: unknown): Promise<never> => {
    if (error instanceof AppError && error.code !== "RATE_LIMITED") await limitAuthFailures(env, request);
    throw error;
  };
  const claim = await claimOf(request, schemes, ports).catch(countFailure);
  const isForeign = claim.accountId !== null && claim.accountId !== ports.accountId;
  const isAccountKnown = claim.isOurs && claim.accountId !== null && !isForeign;
  await Promise.all([
    claim.isOfUser ? limitUser(env, claim.credential) : limitCredential(env, claim.credential),
    isAccountKnown && limitOrganization(env, ports, claim),
    claim.isOurs || limitAuthFailures(env, request),
  ]);
  if (isForeign) throw foreign();
  await waitForCredential(claim.credential);
  const actor = await claim.verify();
  if (actor === null) return claim.isOurs ? countFailure(invalid()) : Promise.reject(invalid());
  if ("accountId" in actor && actor.accountId !== ports.accountId) throw foreign();
  if (!isAccountKnown) await limitOrganization(env, ports, claim);
  return actor;
}

/** Whether a signature takes the place of a credential; the endpoint's handler verifies it. */
const isSigned = ({ headers }: Request): boolean =>
  headers.has("webhook-signature") && !headers.has("Authorization");

/** The actor, if it may call an endpoint with this access. Else UNAUTHORIZED, RATE_LIMITED or FORBIDDEN. */
export async function authorize(
  access: Access,
  request: Request,
  env: Env,
  schemes: readonly Scheme[],
  ports: AuthPorts,
): Promise<Actor> {
  if (access === "public" || (access === "signed" && isSigned(request))) {
    await limitClient(env, request);
    return { type: "anyone", address: addressOf(request) };
  }
  const actor = await authenticate(request, env, schemes, ports);
  if (access !== "member" && actor.type === "user") {
    throw forbidden("A user's token cannot call this endpoint; use the organization's API key");
  }
  return actor;
}
