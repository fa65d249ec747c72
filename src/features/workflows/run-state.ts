/** When a failed run is made again. Pure. */
import type { HandlerState } from "../../delivery/subscriber/handler.ts";
import type { DisabledReason } from "./table.ts";

/** The pause before each retry, in milliseconds. */
const RETRY_DELAYS_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000] as const;

/** The most retries that a workflow may have. */
export const MAX_RETRIES = RETRY_DELAYS_MS.length;

/** When the run after this many that failed is made (epoch ms); null when no further one is. */
export function planRetry(failedRuns: number, retries: number, now: number): number | null {
  const delayMs = failedRuns <= retries ? RETRY_DELAYS_MS[failedRuns - 1] : undefined;
  return delayMs === undefined ? null : now + delayMs;
}

/** How many runs in a row may be killed before the workflow is disabled. */
const MAX_KILLS = 2;

/** What the workflow's object keeps of its latest runs. */
export interface KillStreak {
  /** Runs in a row that were killed. */
  readonly kills: number;
  /** The version of the workflow that they ran. */
  readonly version: number;
  /** When the latest of them was killed (epoch ms). */
  readonly at: number;
}

/** A finished run. */
export interface EndedRun {
  readonly isKilled: boolean;
  readonly version: number;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** The streak after a run; null when there is none. Runs that shared a killed process count as one. */
export function continueStreak(streak: KillStreak | null, run: EndedRun): KillStreak | null {
  const { isKilled, version, startedAt, endedAt } = run;
  const current = streak !== null && streak.version === version ? streak : null;
  if (current !== null && startedAt < current.at) return current;
  return isKilled ? { kills: (current?.kills ?? 0) + 1, version, at: endedAt } : null;
}

/** Whether this version of the workflow must not run again. */
export const isExhausted = (streak: KillStreak | null, version: number): boolean =>
  streak !== null && streak.version === version && streak.kills >= MAX_KILLS;

interface State {
  /** Since when no run could be started (epoch ms); null while runs start. */
  readonly stuckSince: number | null;
  /** Null while the latest run was not killed. */
  readonly streak: KillStreak | null;
  /** That the service has disabled the workflow; null once its webhooks know. */
  readonly notice: Notice | null;
}

interface Notice {
  readonly eventId: string;
  readonly reason: DisabledReason;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** The state as the object stores it. */
export class StoredState {
  readonly #stored: HandlerState;

  constructor(stored: HandlerState) {
    this.#stored = stored;
  }

  /** Not stuck before the first write. */
  read(): State {
    return { stuckSince: null, streak: null, notice: null, ...parse(this.#stored.read()) };
  }

  /** Most runs change nothing. */
  change(changes: Partial<State>): void {
    const present = this.read();
    const json = JSON.stringify({ ...present, ...changes });
    if (json !== JSON.stringify(present)) this.#stored.write(json);
  }
}

/** As {@link StoredState} wrote it. */
const parse = (json: string): Partial<State> => JSON.parse(json) as Partial<State>;
