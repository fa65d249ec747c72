/** What a run means for the delivery of its event, and how long its workflow rests afterwards. Pure. */
import type { DeliveryOutcome } from "../../delivery/port/handler.ts";
import { presentTime } from "../../platform/time.ts";
import type { RunLimits, RunReport } from "../../sandbox/runners/runner.ts";
import type { LoggedRun } from "./execution-schema.ts";

/** After a run that used too much processor time, the workflow rests for this multiple of that time. */
const REST_FACTOR = 4;

type Ended =
  | Extract<DeliveryOutcome, { type: "delivered" }>
  | { readonly type: "failed"; readonly attempt: LoggedRun; readonly error: string };

/**
 * On a machine that programs share, a workflow whose run used a good part of its processor time rests afterwards, so
 * that it uses a fifth of a core at most.
 */
export const restAfter = ({ ranMs }: RunReport, { processCpuMs }: RunLimits): number =>
  ranMs > processCpuMs / REST_FACTOR ? REST_FACTOR * ranMs : 0;

/** The outcome of a run of this version, without retries. */
export function outcomeOf(
  { status, result, logs, durationMs }: RunReport,
  version: number,
  startedAt: number,
): Ended {
  const isSuccess = status === "success";
  const attempt: LoggedRun = {
    attempted_at: presentTime(startedAt),
    duration_ms: durationMs,
    result: isSuccess ? result : null,
    version,
    logs,
  };
  return isSuccess ? { type: "delivered", attempt } : { type: "failed", attempt, error: result };
}
