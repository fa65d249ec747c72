/** Which runs in a row count as killed, and when a workflow must not run again. */
import { describe, expect, it } from "vitest";
import {
  continueStreak,
  type EndedRun,
  isExhausted,
  type KillStreak,
} from "../../src/features/workflows/run-state.ts";

const run = (endedAt: number, changes: Partial<EndedRun> = {}): EndedRun => ({
  isKilled: true,
  version: 1,
  startedAt: endedAt - 10,
  endedAt,
  ...changes,
});
const streakOf = (...runs: readonly EndedRun[]): KillStreak | null =>
  runs.reduce<KillStreak | null>(continueStreak, null);

describe("runs that were killed", () => {
  it("exhaust a workflow when they are two in a row", () => {
    expect(isExhausted(streakOf(run(100)), 1)).toBe(false);
    expect(isExhausted(streakOf(run(100), run(200)), 1)).toBe(true);
  });

  it("do not add up over a run that was not", () => {
    const streak = streakOf(run(100), run(200, { isKilled: false }), run(300));
    expect(streak).toMatchObject({ kills: 1 });
  });

  it("count once when they ended with one process", () => {
    expect(streakOf(run(100), run(101, { startedAt: 95 }), run(102, { startedAt: 90 }))).toMatchObject({
      kills: 1,
    });
  });

  it("are not forgotten for a run that ended beside them", () => {
    expect(streakOf(run(100), run(103, { startedAt: 99, isKilled: false }))).toMatchObject({ kills: 1 });
  });

  it("say nothing of code that has changed since", () => {
    const streak = streakOf(run(100), run(200));
    expect(isExhausted(streak, 2)).toBe(false);
    expect(continueStreak(streak, run(300, { version: 2 }))).toMatchObject({ kills: 1, version: 2 });
  });
});
