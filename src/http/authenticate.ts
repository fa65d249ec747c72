/** Authenticates and authorizes a request (spec section 5). Each scheme recognizes one kind of credential. */

import { AppError } from "@atrium/contract/errors.ts";
import { KeyedLimits, reserve, TokenBucket } from "@atrium/contract/pacing/token-bucket.ts";
import type { Env } from "../env.ts";
import { TtlCache } from "../platform/cache.ts";
import type { Actor } from "../platform/d1/context.ts";
import type { Database } from "../platform/d1/d1.ts";
import type { EndpointRight } from "../platform/d1/rights.ts";
import { sleep } from "../platform/flow/concurrency.ts";
import { addressOf, clientOf, networkOf } from "../platform/network.ts";

export interface AuthPorts {
  readonly directory: Database;
  readonly db: Database;
  readonly accountId: string;
  /** The room that the request names, in which a credential for several rooms acts; null for none. */
  readonly roomId: string | null;
  /** False where the caller of a request is authenticated again, which is no further request. */
  readonly isCounted: boolean;
  /** Counts a request for the organization. Throws RATE_LIMITED beyond its quota. */
  countRequest(isOfUser: boolean): void;
  /** Epoch milliseconds. */
  now(): number;
  defer(work: Promise<unknown>): void;
}

/** A well-formed credential; no shared state was used to recognize it. */
export interface Claim {
  /** Names the credential in its rate limit, and reveals nothing about it. */
  readonly credential: string;
  /** The organization that it says it belongs to; null when only {@link verify} can tell. */
  readonly accountId: string | null;
  /** True for a user's token: users have a share of the organization's requests, each and all together. */
  readonly isOfUser: boolean;
  /** True if this service surely issued the credential: it has our signature, or was verified lately. */
  readonly isOurs: boolean;
  /** The authenticated actor; null for an invalid credential. */
  verify(): Promise<Actor | null>;
}

/** Recognizes one kind of credential. `undefined`: none of this kind; null: cannot be valid. */
export type Scheme = (request: Request, ports: AuthPorts) => Promise<Claim | null | undefined>;

const BEARER = /^\s*Bearer\s+(\S+)\s*$/i;

export const bearerOf = (request: Request): string | null =>
  BEARER.exec(request.headers.get("Authorization") ?? "")?.[1] ?? null;

const unauthorized = (why: string) => new AppError("Auth", "UNAUTHORIZED", why);
const forbidden = (why: string) => new AppError("Auth", "FORBIDDEN", why);

const invalid = () =>
  unauthorized(
    "The credential is malformed, unknown or expired: send a token as it is, and an API key as the Base64 of accountId:apiKey",
  );
const foreign = () => forbidden("The credential does not belong to the organization in the path");

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
    "Send Authorization: Bearer <Base64 of accountId:apiKey>; `npm run account -- create NAME` creates an organization and a key",
  );
}

/** Applies the request rates of the organization: at this location, and worldwide. RATE_LIMITED above a limit. */
async function limitOrganization(env: Env, { accountId, countRequest }: AuthPorts, { isOfUser }: Claim) {
  await limitAccount(env, accountId, isOfUser);
  countRequest(isOfUser);
}

/** Applies rate limits before the database is read: by credential and organization if issued here, else by client. */
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
  const { isCounted } = ports;
  const limits = () => [
    claim.isOfUser ? limitUser(env, claim.credential) : limitCredential(env, claim.credential),
    isAccountKnown && limitOrganization(env, ports, claim),
    claim.isOurs || limitAuthFailures(env, request),
  ];
  if (isCounted) await Promise.all(limits());
  if (isForeign) throw foreign();
  await waitForCredential(claim.credential);
  const actor = await claim.verify();
  if (actor === null) return claim.isOurs ? countFailure(invalid()) : Promise.reject(invalid());
  if ("accountId" in actor && actor.accountId !== ports.accountId) throw foreign();
  if (isCounted && !isAccountKnown) await limitOrganization(env, ports, claim);
  return actor;
}

const isSigned = ({ headers }: Request): boolean =>
  headers.has("webhook-signature") && !headers.has("Authorization");

/** The caller of an endpoint, who may lack its right. Else UNAUTHORIZED, RATE_LIMITED or FORBIDDEN. */
export async function identifyCaller(
  right: EndpointRight,
  request: Request,
  env: Env,
  schemes: readonly Scheme[],
  ports: AuthPorts,
): Promise<Actor> {
  if (right !== "public" && !(right === "signed" && isSigned(request)))
    return authenticate(request, env, schemes, ports);
  await limitClient(env, request);
  return { type: "anyone", address: addressOf(request) };
}

/** Windows of the bindings, which do not say when a window ends. */
const WINDOW_SECONDS = 10;
const NEWCOMER_WINDOW_SECONDS = 60;

const limited = (message: string, retryAfterSeconds = WINDOW_SECONDS) =>
  new AppError("Server", "RATE_LIMITED", message, retryAfterSeconds);

async function count(binding: RateLimit, key: string, message: string, windowSeconds?: number) {
  const { success } = await binding.limit({ key });
  if (!success) throw limited(message, windowSeconds);
}

/** Counts users' requests apart, so that they leave the back end and the members theirs. */
const limitAccount = (env: Env, accountId: string, isOfUser: boolean): Promise<void> =>
  count(
    env.ACCOUNT_RATE_LIMIT,
    isOfUser ? `users:${accountId}` : accountId,
    "The organization has sent too many requests; wait and retry",
  );

const limitUser = (env: Env, credential: string): Promise<void> =>
  count(env.USER_RATE_LIMIT, credential, "This user has sent too many requests; wait and retry");

export const limitCredential = (env: Env, credential: string): Promise<void> =>
  count(env.CREDENTIAL_RATE_LIMIT, credential, "Too many requests with this credential; wait and retry");

/** Counts a signed request that starts a workflow, for the workflow and its organization. RATE_LIMITED above a limit. */
export async function limitTrigger(env: Env, accountId: string, workflowId: string): Promise<void> {
  await Promise.all([limitCredential(env, `trigger:${workflowId}`), limitAccount(env, accountId, false)]);
}

export const limitClient = (env: Env, request: Request): Promise<void> =>
  count(env.CREDENTIAL_RATE_LIMIT, `address:${clientOf(request)}`, "Too many requests; wait and retry");

/** Counts failed and doubtful authentications by client. Above the limit the database is not asked. */
export const limitAuthFailures = (env: Env, request: Request): Promise<void> =>
  limitGuesses(env, addressOf(request));

export const limitGuesses = (env: Env, address: string): Promise<void> =>
  count(
    env.AUTH_FAILURE_RATE_LIMIT,
    networkOf(address),
    "Too many failed authentications from this address; wait and retry",
  );

export const limitDemoVisitors = (env: Env, request: Request): Promise<void> =>
  count(
    env.DEMO_RATE_LIMIT,
    clientOf(request),
    "Too many new visitors from this address; wait and retry",
    NEWCOMER_WINDOW_SECONDS,
  );

export const limitNewGuests = (env: Env, address: string): Promise<void> =>
  count(
    env.GUEST_RATE_LIMIT,
    networkOf(address),
    "Too many new guests from this address; wait and retry",
    NEWCOMER_WINDOW_SECONDS,
  );

const REQUESTS_OF_CREDENTIAL = { perSecond: 100, burst: 100 };
/** The isolate counts as shared for this long after it has served two credentials alternately. */
const SHARED_MS = 1_000;
const MAX_WAIT_MS = 5_000;
const MAX_CREDENTIALS = 10_000;

/** Token buckets by credential: requests of one isolate share its thread. */
export class CredentialBuckets {
  readonly #buckets = new KeyedLimits((now) => new TokenBucket(REQUESTS_OF_CREDENTIAL, now), MAX_CREDENTIALS);
  #latest = "";
  #sharedUntil = Number.NEGATIVE_INFINITY;

  /** Counts a request at `now` (epoch ms). Returns how many milliseconds it waits; null when that is too long. */
  waitMs(credential: string, now: number): number | null {
    if (this.#latest !== "" && this.#latest !== credential) this.#sharedUntil = now + SHARED_MS;
    this.#latest = credential;
    const bucket = this.#buckets.of(credential, now);
    if (now >= this.#sharedUntil) {
      bucket.spend(Math.min(1, bucket.left(now)), now); // alone in the isolate, it owes nothing when others come
      return 0;
    }
    const waitMs = reserve([bucket], MAX_WAIT_MS, now);
    return waitMs > MAX_WAIT_MS ? null : waitMs;
  }
}

const credentialBuckets = new CredentialBuckets();

async function waitForCredential(credential: string): Promise<void> {
  const waitMs = credentialBuckets.waitMs(credential, Date.now());
  if (waitMs === null) throw limited("Too many requests at once with this credential; wait and retry", 1);
  if (waitMs > 0) await sleep(waitMs);
}

/** Refusals of one client without a delay, until it has had none for ten seconds. */
const PROMPT_REFUSALS = 20;
const REMEMBER_MS = 10_000;
/** Each further refusal waits longer. A client's good requests may wait behind it, and behind an upgrade none. */
const STEP_MS = 50;
const MAX_DELAY_MS = 1_000;
const MAX_UPGRADE_DELAY_MS = 5_000;
/** Share of the longest delays that is spread, so that clients do not return together. */
const SPREAD = 0.5;
/** Multiples of the golden ratio fall evenly on a circle, wherever one begins or stops. */
const GOLDEN_RATIO = 0.618_033_988_75;
/** Further refusals have no delay: waiting takes memory. */
const MAX_WAITING = 4_000;

/** A tarpit delays the refusals of a client that keeps sending refused requests. */
export class Tarpit {
  readonly #counts = new TtlCache<number>({ ttlMs: REMEMBER_MS, maxEntries: 10_000 });
  /** When waiting refusals are answered (epoch ms), also those whose clients have left. */
  #waiting: number[] = [];

  delayMs(client: string, isUpgrade: boolean, now: number): number {
    const count = (this.#counts.get(client, now) ?? 0) + 1;
    this.#counts.set(client, count, now);
    const ms = delayOf(count - PROMPT_REFUSALS, isUpgrade ? MAX_UPGRADE_DELAY_MS : MAX_DELAY_MS);
    if (ms === 0) return 0;
    if (this.#waiting.length >= MAX_WAITING) this.#waiting = this.#waiting.filter((until) => until > now);
    if (this.#waiting.length >= MAX_WAITING) return 0;
    this.#waiting.push(now + ms);
    return ms;
  }
}

/** The delay of the nth refusal after the prompt ones. */
function delayOf(nth: number, max: number): number {
  const beyond = nth - max / STEP_MS;
  if (beyond < 0) return Math.max(0, nth) * STEP_MS;
  return Math.round(max * (1 - SPREAD * ((beyond * GOLDEN_RATIO) % 1)));
}

const tarpit = new Tarpit();

export async function delayRefusal(request: Request): Promise<void> {
  const ms = tarpit.delayMs(clientOf(request), request.headers.has("Upgrade"), Date.now());
  if (ms > 0) await sleep(ms);
}
