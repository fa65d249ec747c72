/** Rate limits, counted by the platform's bindings. wrangler.toml sets the limits. */
import type { Env } from "../env.ts";
import { AppError } from "../platform/errors.ts";
import { TokenBucket } from "../platform/flow/token-bucket.ts";
import { clientOf } from "../platform/network.ts";
import { TtlCache } from "../platform/ttl-cache.ts";

/** What one credential may send at once, and then steadily: as much as the rate limits allow in the long run. */
const REQUESTS_OF_CREDENTIAL = { perSecond: 100, burst: 100 };
/** A budget is full again by then. */
const FORGET_MS = 10_000;
/** The isolate counts as shared for so long after it has served two credentials in turns. */
const SHARED_MS = 1_000;
/** A request whose turn comes later than this is refused instead. */
const MAX_WAIT_MS = 5_000;

/** Memory of one isolate: its thread is what requests wait for. */
export class RequestPacing {
  readonly #budgets = new TtlCache<TokenBucket>({ ttlMs: FORGET_MS, maxEntries: 10_000 });
  #latest = "";
  #sharedUntil = Number.NEGATIVE_INFINITY;

  /** Counts a request at `now` (epoch ms). For how many milliseconds it waits; null when that would be too long. */
  waitMs(credential: string, now: number): number | null {
    if (this.#latest !== "" && this.#latest !== credential) this.#sharedUntil = now + SHARED_MS;
    this.#latest = credential;
    const budget = this.#budgets.get(credential, now) ?? new TokenBucket(REQUESTS_OF_CREDENTIAL, now);
    this.#budgets.set(credential, budget, now);
    const isShared = now < this.#sharedUntil;
    const waitMs = isShared ? budget.affordableIn(now) : 0;
    if (waitMs > MAX_WAIT_MS) return null;
    // One that has the isolate for itself owes nothing when others come.
    budget.spend(isShared ? 1 : Math.min(1, budget.left(now)), now);
    return waitMs;
  }
}

/** The bindings count in windows of these lengths, and do not say when a window ends. */
const WINDOW_SECONDS = 10;
const DEMO_WINDOW_SECONDS = 60;

const limited = (message: string, retryAfterSeconds = WINDOW_SECONDS) =>
  new AppError("Server", "RATE_LIMITED", message, retryAfterSeconds);

/**
 * Counts a request for its organization: those of its users apart, so that they leave its back end and its members
 * theirs. RATE_LIMITED above the limit.
 */
export async function limitAccount(env: Env, accountId: string, isOfUser: boolean): Promise<void> {
  const { success } = await env.ACCOUNT_RATE_LIMIT.limit({
    key: isOfUser ? `users:${accountId}` : accountId,
  });
  if (!success) throw limited("The organization has sent too many requests; wait and retry");
}

/** Counts a request for the user whose token it has. RATE_LIMITED above a user's share. */
export async function limitUser(env: Env, credential: string): Promise<void> {
  const { success } = await env.USER_RATE_LIMIT.limit({ key: credential });
  if (!success) throw limited("This user has sent too many requests; wait and retry");
}

/** Counts a request for its credential, by a name that does not reveal it. RATE_LIMITED above the limit. */
export async function limitCredential(env: Env, credential: string): Promise<void> {
  const { success } = await env.CREDENTIAL_RATE_LIMIT.limit({ key: credential });
  if (!success) throw limited("Too many requests with this credential; wait and retry");
}

/** Counts a signed request that starts a workflow, for the workflow and its organization. RATE_LIMITED above a limit. */
export async function limitTrigger(env: Env, accountId: string, workflowId: string): Promise<void> {
  await Promise.all([limitCredential(env, `trigger:${workflowId}`), limitAccount(env, accountId, false)]);
}

const pacing = new RequestPacing();

/** Waits until it is the turn of a request of this credential beside those of others. RATE_LIMITED if that takes too long. */
export async function takeTurn(credential: string): Promise<void> {
  const waitMs = pacing.waitMs(credential, Date.now());
  if (waitMs === null) throw limited("Too many requests at once with this credential; wait and retry", 1);
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
}

/** Counts a request without a credential for its client. RATE_LIMITED above the limit. */
export async function limitClient(env: Env, request: Request): Promise<void> {
  const { success } = await env.CREDENTIAL_RATE_LIMIT.limit({ key: `address:${clientOf(request)}` });
  if (!success) throw limited("Too many requests; wait and retry");
}

/**
 * Counts, for its client, an authentication that failed or may well fail. RATE_LIMITED above the limit: then the
 * database is not asked whether the credential is right.
 */
export async function limitAuthFailures(env: Env, request: Request): Promise<void> {
  const { success } = await env.AUTH_FAILURE_RATE_LIMIT.limit({ key: clientOf(request) });
  if (!success) throw limited("Too many failed authentications from this address; wait and retry");
}

/** Counts a new visitor of the demo for its address. RATE_LIMITED above the limit. */
export async function limitDemoVisitors(env: Env, request: Request): Promise<void> {
  const { success } = await env.DEMO_RATE_LIMIT.limit({ key: clientOf(request) });
  if (!success) throw limited("Too many new visitors from this address; wait and retry", DEMO_WINDOW_SECONDS);
}
