/** Answers clients late that go on although they are refused: one that retries as soon as it is answered costs little then. */

import { clientOf } from "../platform/network.ts";
import { TtlCache } from "../platform/ttl-cache.ts";

/** Refusals of one client are answered at once up to this number within ten seconds. */
const PROMPT_REFUSALS = 20;
const REMEMBER_MS = 10_000;
/** Each further one waits longer. A client's own good requests may wait behind them, a socket's upgrade holds up none. */
const STEP_MS = 50;
const MAX_DELAY_MS = 1_000;
const MAX_UPGRADE_DELAY_MS = 5_000;
/** Those that wait longest are spread over this part of that time, or they would all come back at the same moment. */
const SPREAD = 0.5;
/** Multiples of the golden ratio fall evenly on a circle, wherever one begins or stops. */
const GOLDEN_RATIO = 0.618_033_988_75;
/** Beyond this many that wait, refusals are answered at once: waiting takes memory. */
const MAX_WAITING = 4_000;

export class LateRefusals {
  /** By client; an isolate's own, so that counting is free. */
  readonly #counts = new TtlCache<number>({ ttlMs: REMEMBER_MS, maxEntries: 10_000 });
  /** When the refusals that wait are answered (epoch ms). Clients that leave earlier are not noticed. */
  #waiting: number[] = [];

  /** Counts a refusal at `now` (epoch ms), and returns for how many milliseconds it waits. */
  delayMs(client: string, isUpgrade: boolean, now: number): number {
    const count = (this.#counts.get(client, now) ?? 0) + 1;
    this.#counts.set(client, count, now);
    const max = isUpgrade ? MAX_UPGRADE_DELAY_MS : MAX_DELAY_MS;
    const ms = delayOf(count - PROMPT_REFUSALS, max);
    if (ms === 0) return 0;
    if (this.#waiting.length >= MAX_WAITING) this.#waiting = this.#waiting.filter((until) => until > now);
    if (this.#waiting.length >= MAX_WAITING) return 0;
    this.#waiting.push(now + ms);
    return ms;
  }
}

/** The delay of the nth refusal that is not prompt. */
function delayOf(nth: number, max: number): number {
  const beyond = nth - max / STEP_MS;
  if (beyond < 0) return Math.max(0, nth) * STEP_MS;
  return Math.round(max * (1 - SPREAD * ((beyond * GOLDEN_RATIO) % 1)));
}

const refusals = new LateRefusals();

/** Waits before a request is answered that was refused for its rate. */
export async function delayRefusal(request: Request): Promise<void> {
  const ms = refusals.delayMs(clientOf(request), request.headers.has("Upgrade"), Date.now());
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
