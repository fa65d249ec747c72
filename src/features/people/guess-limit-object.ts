/**
 * The Durable Object that counts guesses in the whole world, and does the work of passwords and passkeys: one for each person,
 * network and known browser. The platform's rate limits count per location, which would multiply a guesser's
 * allowance, and its free plan gives a request of the Worker a tenth of the processor time of one hash.
 */
import { DurableObject } from "cloudflare:workers";
import { backoffMs } from "@atrium/contract/pacing/backoff.ts";
import { sleep } from "../../platform/flow/concurrency.ts";
import { lazily } from "../../platform/lazily.ts";
import { logError } from "../../platform/log.ts";
import { DurableAlarm } from "../../platform/objects/durable-alarm.ts";
import { type Guesses, GuessStore } from "./guess-store.ts";
import { hashPassword, verifyPassword } from "./password.ts";
import { passwordBuckets } from "./password-buckets.ts";

/** Some guesses are free, then each waits by exponential backoff, while earlier ones are forgotten. */
export interface PauseRule {
  readonly free: number;
  /** The first pause and the longest one, in milliseconds. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** One guess is forgotten in this time, in milliseconds. */
  readonly forgetMs: number;
}

/** The pause before another guess in milliseconds, 0 if it may be made now; and the guesses after it. */
function planGuess(
  guesses: Guesses = { count: 0, at: 0 },
  rule: PauseRule,
  now: number,
): { readonly waitMs: number; readonly guesses: Guesses } {
  const count = Math.max(0, guesses.count - Math.max(0, now - guesses.at) / rule.forgetMs);
  const beyond = Math.ceil(count) - rule.free;
  const pauseMs = beyond < 0 ? 0 : backoffMs(beyond + 1, rule);
  const waitMs = guesses.at + pauseMs - now;
  return waitMs > 0 && pauseMs > 0
    ? { waitMs, guesses }
    : { waitMs: 0, guesses: { count: count + 1, at: now } };
}

/** A client's guess of a person's password. */
export interface PasswordGuess {
  readonly key: string;
  readonly rule: PauseRule;
  /** The network, known browser or person whose wrong passwords of late hold up the check. */
  readonly client: string;
  readonly isKnown: boolean;
}

const reserveCheck = passwordBuckets();

const webAuthn = lazily(() => import("../../platform/crypto/web-authn.ts"));
type WebAuthn = Awaited<ReturnType<typeof webAuthn>>;

export class GuessLimitObject extends DurableObject {
  /** Epoch milliseconds; tests replace it by their own clock. */
  clock: () => number = () => Date.now();

  readonly #alarm: DurableAlarm;
  #store: GuessStore | null = null;

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env);
    this.#alarm = new DurableAlarm(ctx, (error) =>
      logError("The alarm of a limit on guesses could not be set", { object: String(ctx.id) }, error),
    );
  }

  /** Counts a guess, and returns 0; or the milliseconds to wait, and counts nothing. */
  guess(key: string, rule: PauseRule): number {
    const { waitMs, guesses } = planGuess(this.#guesses.find(key), rule, this.clock());
    if (waitMs > 0) return waitMs;
    const until = Math.ceil(guesses.at + guesses.count * rule.forgetMs);
    this.#guesses.set(key, guesses, until);
    this.#alarm.scheduleBy([until]);
    return 0;
  }

  /** Takes back the latest guess, because it was right. */
  forgive(key: string): void {
    this.#guesses.takeOne(key);
  }

  /**
   * Counts a guess, then verifies the password against a stored hash, or works as long without one (null). The right
   * password forgives all guesses of the key. `waitMs` is 0, or the milliseconds to wait: then nothing was verified.
   * The object keeps neither the password nor the hash.
   */
  async verifyPassword(
    { key, rule, client, isKnown }: PasswordGuess,
    password: string,
    stored: string | null,
  ): Promise<{ readonly waitMs: number; readonly isRight: boolean }> {
    const pauseMs = this.guess(key, rule);
    if (pauseMs > 0) return { waitMs: pauseMs, isRight: false };
    const check = reserveCheck(client, Date.now(), isKnown);
    if (check.isRefused) return { waitMs: check.waitMs, isRight: false };
    if (check.waitMs > 0) await sleep(check.waitMs);
    const isRight = stored === null ? await wasteWork(password) : await verifyPassword(password, stored);
    if (isRight) {
      check.refund(Date.now());
      this.#guesses.remove(key);
    }
    return { waitMs: 0, isRight };
  }

  /** Hashes a new password for storage. The caller has counted a guess before. */
  hashPassword(password: string): Promise<string> {
    return hashPassword(password);
  }

  /** Verifies a new passkey; null for one that was not made as expected. */
  async verifyNewPasskey(...made: Parameters<WebAuthn["verifyNewPasskey"]>) {
    return (await webAuthn()).verifyNewPasskey(...made);
  }

  /** Verifies a use of a passkey. Returns the count of signatures after it; null for one that is not as expected. */
  async verifyPasskeyUse(...use: Parameters<WebAuthn["verifyPasskeyUse"]>) {
    return (await webAuthn()).verifyPasskeyUse(...use);
  }

  /** Deletes forgotten guesses, and with the last one the whole storage. */
  override async alarm(): Promise<void> {
    this.#alarm.markFired();
    const next = this.#guesses.prune(this.clock());
    if (next !== null) {
      this.#alarm.scheduleBy([next]);
      return;
    }
    this.#store = null;
    await this.ctx.storage.deleteAll();
  }

  get #guesses(): GuessStore {
    this.#store ??= new GuessStore(this.ctx.storage);
    return this.#store;
  }
}

/** Takes as long as a verification, so that the time of an answer does not reveal whose address is known. */
async function wasteWork(password: string): Promise<false> {
  await hashPassword(password);
  return false;
}
