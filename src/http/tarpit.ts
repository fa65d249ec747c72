/** The tarpit: delays 429 responses to clients that keep retrying, so that they cost little. */
import { clientOf } from "../platform/network.ts";
import { sleep } from "../platform/time-limit.ts";
import { TtlCache } from "../platform/ttl-cache.ts";

/** Refusals of one client without a delay, until it has had none for ten seconds. */
const PROMPT_REFUSALS = 20;
const REMEMBER_MS = 10_000;
/** Each further refusal waits longer. A client's good requests may wait behind it, and behind an upgrade none. */
const STEP_MS = 50;
const MAX_DELAY_MS = 1_000;
const MAX_UPGRADE_DELAY_MS = 5_000;
/** The longest delays are spread over this part of their time: those clients would come back in the same moment. */
const SPREAD = 0.5;
/** Multiples of the golden ratio fall evenly on a circle, wherever one begins or stops. */
const GOLDEN_RATIO = 0.618_033_988_75;
/** Further refusals have no delay: waiting takes memory. */
const MAX_WAITING = 4_000;

export class Tarpit {
  /** Refusals by client, in this isolate. */
  readonly #counts = new TtlCache<number>({ ttlMs: REMEMBER_MS, maxEntries: 10_000 });
  /** When waiting refusals are answered (epoch ms), also those whose clients have left. */
  #waiting: number[] = [];

  /** Counts a refusal at `now` (epoch ms), and returns its delay in milliseconds. */
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

/** Waits before the response to a request that was refused for its rate. */
export async function delayRefusal(request: Request): Promise<void> {
  const ms = tarpit.delayMs(clientOf(request), request.headers.has("Upgrade"), Date.now());
  if (ms > 0) await sleep(ms);
}
