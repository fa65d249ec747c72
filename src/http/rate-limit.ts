/** Rate limits, counted by the platform's bindings. wrangler.toml sets the limits. */
import type { Env } from "../config.ts";
import type { Actor } from "../context/actor.ts";
import { AppError } from "../platform/errors.ts";
import { sha256 } from "../platform/hash.ts";

/** The bindings count in windows of these lengths, and do not say when a window ends. */
const WINDOW_SECONDS = 10;
const DEMO_WINDOW_SECONDS = 60;
const SIGN_IN_WINDOW_SECONDS = 60;

const limited = (message: string, retryAfterSeconds = WINDOW_SECONDS) =>
  new AppError("Server", "RATE_LIMITED", message, retryAfterSeconds);

/** The caller's address as the edge reports it, never as the client claims. */
export const addressOf = (request: Request): string => request.headers.get("CF-Connecting-IP") ?? "unknown";

const credentialOf = (actor: Actor): string => {
  if (actor.type === "key") return `key:${actor.keyId}`;
  if (actor.type === "person") return `person:${actor.personId}`;
  return actor.type === "user" ? `user:${actor.userId}` : `address:${actor.address}`;
};

/** Counts a request for its organization and its credential. RATE_LIMITED when either is above its limit. */
export async function limitRequests(env: Env, actor: Actor): Promise<void> {
  const [account, credential] = await Promise.all([
    actor.type === "anyone" || env.ACCOUNT_RATE_LIMIT.limit({ key: actor.accountId }),
    env.CREDENTIAL_RATE_LIMIT.limit({ key: credentialOf(actor) }),
  ]);
  if (account !== true && !account.success)
    throw limited("The organization has sent too many requests; wait and retry");
  if (!credential.success) throw limited("Too many requests with this credential; wait and retry");
}

/** Counts a dashboard request for its person, or for its address if no one is signed in. RATE_LIMITED above the limit. */
export async function limitDashboardRequests(
  env: Env,
  request: Request,
  personId: string | null,
): Promise<void> {
  const key = personId === null ? `address:${addressOf(request)}` : `person:${personId}`;
  const { success } = await env.CREDENTIAL_RATE_LIMIT.limit({ key });
  if (!success) throw limited("Too many requests; wait and retry");
}

/** Counts a failed authentication for its address. RATE_LIMITED above the limit. */
export async function limitAuthFailures(env: Env, request: Request): Promise<void> {
  const { success } = await env.AUTH_FAILURE_RATE_LIMIT.limit({ key: addressOf(request) });
  if (!success) throw limited("Too many failed authentications from this address; wait and retry");
}

/** Counts a new visitor of the demo for its address. RATE_LIMITED above the limit. */
export async function limitDemoVisitors(env: Env, request: Request): Promise<void> {
  const { success } = await env.DEMO_RATE_LIMIT.limit({ key: addressOf(request) });
  if (!success) throw limited("Too many new visitors from this address; wait and retry", DEMO_WINDOW_SECONDS);
}

/**
 * Counts a password attempt for its address and for the person it is about, so that guessing one person's password
 * from many addresses is as slow as guessing many passwords from one address. RATE_LIMITED above either limit.
 */
export async function limitPasswordAttempts(env: Env, request: Request, whom: string): Promise<void> {
  const [address, person] = await Promise.all([
    env.SIGN_IN_ADDRESS_RATE_LIMIT.limit({ key: addressOf(request) }),
    env.SIGN_IN_RATE_LIMIT.limit({ key: await sha256(new TextEncoder().encode(whom)) }),
  ]);
  if (!address.success || !person.success)
    throw limited("Too many attempts to sign in; wait a minute and try again", SIGN_IN_WINDOW_SECONDS);
}
