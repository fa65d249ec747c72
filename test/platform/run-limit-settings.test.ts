/** Settings that bound runs: defaults, and invalid values. */
import { describe, expect, it } from "vitest";
import { runLimits } from "../../src/platform/config.ts";
import type { Settings } from "../../src/platform/settings.ts";

const SETTINGS: readonly (readonly [keyof Settings, keyof ReturnType<typeof runLimits>, number])[] = [
  ["WORKFLOW_WALL_MS", "wallMs", 30_000],
  ["WORKFLOW_CPU_MS", "cpuMs", 50],
  ["WORKFLOW_PROCESS_CPU_MS", "processCpuMs", 1_000],
  ["WORKFLOW_CALLS", "calls", 200],
  ["WORKFLOW_RESULT_BYTES", "resultBytes", 262_144],
  ["WORKFLOW_LOG_BYTES", "logBytes", 65_536],
  ["WORKFLOW_MEMORY_MB", "memoryMb", 128],
];

describe("a run's limits", () => {
  it.each(SETTINGS)("%s sets %s, which is %i without it", (setting, limit, fallback) => {
    expect(runLimits({})[limit]).toBe(fallback);
    expect(runLimits({ [setting]: "" })[limit]).toBe(fallback);
    const { [limit]: set, ...others } = runLimits({ [setting]: "7" });
    const { [limit]: _, ...defaults } = runLimits({});
    expect([set, others]).toEqual([7, defaults]);
  });

  it.each(["0", "-1", "1.5", "1e3", "5 s", " 5", "Infinity", "1000000000"])("are none of %j", (value) => {
    for (const [setting] of SETTINGS) {
      expect(() => runLimits({ [setting]: value })).toThrow(`The setting ${setting} must be a whole number`);
    }
  });
});
