/** Runs that had to be killed, one after the other: a program that kills again is not started a third time. */

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
