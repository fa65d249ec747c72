/** The limit on guesses: some are free, then exponential backoff, while earlier guesses are forgotten. Pure. */
import { backoffMs } from "../../../platform/flow/backoff.ts";

export interface PauseRule {
  /** How many guesses need no pause. */
  readonly free: number;
  /** The first pause, in milliseconds; each further guess doubles it… */
  readonly firstMs: number;
  /** …up to this. */
  readonly maxMs: number;
  /** One guess is forgotten in this time, in milliseconds. */
  readonly forgetMs: number;
}

/** The guesses that count. */
export interface Guesses {
  /** How many counted at the latest one; since then they have been forgotten continuously. */
  readonly count: number;
  /** The latest, epoch milliseconds. */
  readonly at: number;
}

const NONE: Guesses = { count: 0, at: 0 };

const countAt = ({ count, at }: Guesses, { forgetMs }: PauseRule, now: number): number =>
  Math.max(0, count - Math.max(0, now - at) / forgetMs);

/** When all of them are forgotten, epoch milliseconds. */
export const forgottenAt = ({ count, at }: Guesses, { forgetMs }: PauseRule): number =>
  Math.ceil(at + count * forgetMs);

/** The pause before another guess in milliseconds, 0 if it may be made now; and the guesses after it. */
export function planGuess(
  guesses: Guesses = NONE,
  rule: PauseRule,
  now: number,
): { readonly waitMs: number; readonly guesses: Guesses } {
  const count = countAt(guesses, rule, now);
  const beyond = Math.ceil(count) - rule.free;
  const pauseMs = beyond < 0 ? 0 : backoffMs(beyond + 1, rule);
  const waitMs = guesses.at + pauseMs - now;
  return waitMs > 0 && pauseMs > 0
    ? { waitMs, guesses }
    : { waitMs: 0, guesses: { count: count + 1, at: now } };
}
