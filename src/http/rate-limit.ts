/** Rate limits of requests: the platform's bindings count them, and a busy credential waits in its isolate. wrangler.toml has the bindings' limits. */
import type { Env } from "../env.ts";
import { AppError } from "../platform/errors.ts";
import { KeyedLimits, TokenBucket, takeTurn } from "../platform/flow/token-bucket.ts";
import { clientOf } from "../platform/network.ts";
import { sleep } from "../platform/time-limit.ts";

/** Windows of the bindings, which do not say when a window ends. */
const WINDOW_SECONDS = 10;
const DEMO_WINDOW_SECONDS = 60;

const limited = (message: string, retryAfterSeconds = WINDOW_SECONDS) =>
  new AppError("Server", "RATE_LIMITED", message, retryAfterSeconds);

/** Counts a request for `key`. RATE_LIMITED above the binding's limit. */
async function count(binding: RateLimit, key: string, message: string, windowSeconds?: number) {
  const { success } = await binding.limit({ key });
  if (!success) throw limited(message, windowSeconds);
}

/**
 * Counts a request for its organization: those of its users apart, so that they leave its back end and its members
 * theirs. RATE_LIMITED above the limit.
 */
export const limitAccount = (env: Env, accountId: string, isOfUser: boolean): Promise<void> =>
  count(
    env.ACCOUNT_RATE_LIMIT,
    isOfUser ? `users:${accountId}` : accountId,
    "The organization has sent too many requests; wait and retry",
  );

/** Counts a request for the user whose token it has. RATE_LIMITED above a user's share. */
export const limitUser = (env: Env, credential: string): Promise<void> =>
  count(env.USER_RATE_LIMIT, credential, "This user has sent too many requests; wait and retry");

/** Counts a request for its credential, by a name that does not reveal it. RATE_LIMITED above the limit. */
export const limitCredential = (env: Env, credential: string): Promise<void> =>
  count(env.CREDENTIAL_RATE_LIMIT, credential, "Too many requests with this credential; wait and retry");

/** Counts a signed request that starts a workflow, for the workflow and its organization. RATE_LIMITED above a limit. */
export async function limitTrigger(env: Env, accountId: string, workflowId: string): Promise<void> {
  await Promise.all([limitCredential(env, `trigger:${workflowId}`), limitAccount(env, accountId, false)]);
}

/** Counts a request without a credential for its client. RATE_LIMITED above the limit. */
export const limitClient = (env: Env, request: Request): Promise<void> =>
  count(env.CREDENTIAL_RATE_LIMIT, `address:${clientOf(request)}`, "Too many requests; wait and retry");

/**
 * Counts, for its client, an authentication that failed or may well fail. RATE_LIMITED above the limit: then the
 * database is not asked whether the credential is right.
 */
export const limitAuthFailures = (env: Env, request: Request): Promise<void> =>
  count(
    env.AUTH_FAILURE_RATE_LIMIT,
    clientOf(request),
    "Too many failed authentications from this address; wait and retry",
  );

/** Counts a new visitor of the demo for its address. RATE_LIMITED above the limit. */
export const limitDemoVisitors = (env: Env, request: Request): Promise<void> =>
  count(
    env.DEMO_RATE_LIMIT,
    clientOf(request),
    "Too many new visitors from this address; wait and retry",
    DEMO_WINDOW_SECONDS,
  );

/** As much as the bindings allow in the long run. */
const REQUESTS_OF_CREDENTIAL = { perSecond: 100, burst: 100 };
/** The isolate counts as shared for this long after it has served two credentials alternately. */
const SHARED_MS = 1_000;
/** A request that would wait longer is refused. */
const MAX_WAIT_MS = 5_000;
const MAX_CREDENTIALS = 10_000;

/** Token buckets of the credentials in one isolate: its thread is what their requests wait for. */
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
    const waitMs = takeTurn([bucket], MAX_WAIT_MS, now);
    return waitMs > MAX_WAIT_MS ? null : waitMs;
  }
}

const credentialBuckets = new CredentialBuckets();

/** Waits while other credentials of the isolate come first. RATE_LIMITED if that takes too long. */
export async function waitForCredential(credential: string): Promise<void> {
  const waitMs = credentialBuckets.waitMs(credential, Date.now());
  if (waitMs === null) throw limited("Too many requests at once with this credential; wait and retry", 1);
  if (waitMs > 0) await sleep(waitMs);
}
