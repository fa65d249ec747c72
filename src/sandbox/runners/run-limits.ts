/** The limits of a run in this deployment: environment variables and their defaults. */
import { AppError } from "../../platform/errors.ts";
import type { RunLimits } from "./runner.ts";

/** The variables with their defaults. */
const SETTINGS = {
  WORKFLOW_WALL_MS: 30_000,
  WORKFLOW_CPU_MS: 50,
  WORKFLOW_TURN_MS: 500,
  WORKFLOW_CALLS: 200,
  WORKFLOW_RESULT_BYTES: 256 * 1024,
  WORKFLOW_LOG_BYTES: 64 * 1024,
  WORKFLOW_MEMORY_MB: 128,
} as const;

export type LimitSetting = keyof typeof SETTINGS;
export type LimitSettings = { readonly [Name in LimitSetting]?: string };

/** Throws INTERNAL_ERROR for a setting that is not a positive whole number: a typing error must not lift a limit. */
export function runLimits(env: LimitSettings): RunLimits {
  const read = (name: LimitSetting): number => {
    const value = env[name] ?? "";
    if (value === "") return SETTINGS[name];
    if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
    throw new AppError(
      "Server",
      "INTERNAL_ERROR",
      `The setting ${name} must be a whole number from 1 to 999999999; without it, ${SETTINGS[name]} holds`,
    );
  };
  return {
    wallMs: read("WORKFLOW_WALL_MS"),
    cpuMs: read("WORKFLOW_CPU_MS"),
    turnMs: read("WORKFLOW_TURN_MS"),
    calls: read("WORKFLOW_CALLS"),
    resultBytes: read("WORKFLOW_RESULT_BYTES"),
    logBytes: read("WORKFLOW_LOG_BYTES"),
    memoryMb: read("WORKFLOW_MEMORY_MB"),
  };
}
