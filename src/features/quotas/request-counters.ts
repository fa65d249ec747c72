/** Counts an isolate's requests, and refuses those above its share of the quota. Reports bring later shares; none waits. */

import { AppError } from "@atrium/contract/errors.ts";
import { describeExceeded } from "@atrium/contract/resources/quota.ts";
import type { Env } from "../../env.ts";
import { TtlCache } from "../../platform/cache.ts";
import { openStub } from "../../platform/objects/rpc.ts";
import type { Settings } from "../../platform/settings.ts";
import { type RateShare, type RequestRates, WINDOW_MS } from "./organization-rate.ts";
import type { RequestRateObject } from "./request-rate-object.ts";

/** A share holds for this long while the object cannot be reached; then the limits per location do. */
const SHARE_KEPT_MS = 60_000;
const MAX_SHARES = 10_000;
const WINDOW_SECONDS = WINDOW_MS / 1000;

interface Window {
  /** Epoch milliseconds. */
  readonly startedAt: number;
  admitted: number;
  refused: number;
}

export const openRequestRates = (env: Pick<Env, "REQUEST_RATES"> & Settings): RequestRates => ({
  report: (accountId, report) =>
    openStub<RequestRateObject>(env, env.REQUEST_RATES, accountId).report(accountId, report),
});

interface CounterPorts {
  readonly rates: RequestRates;
  /** Epoch milliseconds. */
  now(): number;
  wait(ms: number): Promise<unknown>;
}

export class RequestCounters {
  readonly #ports: CounterPorts;
  /** By organization and kind of caller: users are counted apart, so that they leave their back end its share. */
  readonly #windows = new Map<string, Window>();
  readonly #shares = new TtlCache<RateShare>({ ttlMs: SHARE_KEPT_MS, maxEntries: MAX_SHARES });
  readonly #id = crypto.randomUUID();

  constructor(ports: CounterPorts) {
    this.#ports = ports;
  }

  /** Counts a request. RATE_LIMITED beyond the share. `defer` lets work finish after the response. */
  count(accountId: string, isOfUser: boolean, defer: (work: Promise<unknown>) => void): void {
    const now = this.#ports.now();
    const counter = `${isOfUser ? "users" : "others"}:${this.#id}`;
    const key = `${accountId}:${isOfUser}`;
    let window = this.#windows.get(key);
    // A window without an end was cut off with the request that began it.
    if (window === undefined || now >= window.startedAt + 2 * WINDOW_MS) {
      window = { startedAt: now, admitted: 0, refused: 0 };
      this.#windows.set(key, window);
      defer(this.#reportLater(accountId, counter, key, window));
    }
    const share = this.#shares.get(key, now);
    if (share !== undefined && window.admitted >= share.perSecond * WINDOW_SECONDS) {
      window.refused += 1;
      throw refusal(share, window, now);
    }
    window.admitted += 1;
  }

  async #reportLater(accountId: string, counter: string, key: string, window: Window): Promise<void> {
    await this.#ports.wait(WINDOW_MS);
    if (this.#windows.get(key) === window) this.#windows.delete(key);
    const { admitted, refused } = window;
    const share = await this.#ports.rates.report(accountId, { counter, admitted, refused });
    this.#shares.set(key, share, this.#ports.now());
  }
}

function refusal({ others, limit }: RateShare, { admitted, startedAt }: Window, now: number): AppError {
  const used = Math.round(others + admitted / WINDOW_SECONDS);
  const seconds = Math.max(1, Math.ceil((startedAt + WINDOW_MS - now) / 1000));
  const message = describeExceeded({ quota: "requests_per_second", used, limit });
  return new AppError("Accounts", "RATE_LIMITED", message, seconds);
}
