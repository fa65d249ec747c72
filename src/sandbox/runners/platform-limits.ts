/** The limits of a run that Cloudflare itself enforces, of a script in a dispatch namespace or of a loaded isolate. */
import type { RunLimits } from "./runner.ts";

/** As the platform names them. */
export interface PlatformLimits {
  /** Processor time, in milliseconds. */
  readonly cpuMs: number;
  readonly subRequests: number;
}

/** The bindings count calls and explain the limit; the platform's own count must not be reached first. */
const SUBREQUESTS_PER_CALL = 2;

export const platformLimits = ({ cpuMs, calls }: Pick<RunLimits, "cpuMs" | "calls">): PlatformLimits => ({
  cpuMs,
  subRequests: SUBREQUESTS_PER_CALL * calls,
});
