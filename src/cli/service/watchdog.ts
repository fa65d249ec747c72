/** Kills the process of a service that no longer answers because some code occupies its thread: Miniflare restarts it. */
import { setTimeout as pause } from "node:timers/promises";
import { listGroup, type ProcessState } from "../process/process-group.ts";

/** How long the service may take for an answer that costs it a millisecond. */
export const SILENCE_LIMIT_MS = 10_000;
/** The wait is divided into steps, each of which shows whether this process itself was scheduled in time. */
const STEPS = 10;
/** Of one core. A process that uses less is waiting, for example at a breakpoint. */
const WORKING_SHARE = 0.25;

export interface WatchedService {
  /** Where it listens. */
  readonly url: string;
  /** The process group that may contain a stuck process, and the name of that process's program. */
  readonly groupId: number;
  readonly program: string;
}

/**
 * Watches until `stop` aborts, and calls `onKill` after each kill. It kills when the service gives no answer for
 * `limitMs` while the process works all the time, or is paused. A machine that is slow or asleep delays this process
 * too: then the time starts again. Rejects when `stop` aborts, and where the system has no `ps`.
 */
export async function watch(
  watched: WatchedService,
  onKill: () => void,
  stop: AbortSignal,
  limitMs = SILENCE_LIMIT_MS,
): Promise<void> {
  while (!stop.aborted) {
    const probe = new Probe(watched.url, stop);
    await pause(limitMs / STEPS, undefined, { signal: stop });
    while (!probe.isAnswered) {
      const before = await listGroup(watched.groupId, watched.program);
      if (!(await isSilent(probe, limitMs, stop))) continue;
      const after = await listGroup(watched.groupId, watched.program);
      const stuck = after.filter((now) => isStuck(now, before, limitMs));
      if (probe.isAnswered || stuck.length === 0) continue;
      for (const { pid } of stuck) kill(pid);
      onKill();
      break;
    }
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has already ended.
  }
}

/** A request that needs nothing but the service's thread. A refusal is a sign of life, too. */
class Probe {
  isAnswered = false;

  constructor(url: string, stop: AbortSignal) {
    const settle = () => {
      this.isAnswered = true;
    };
    const response = fetch(`${url}/v1/`, { method: "OPTIONS", signal: stop });
    response.then(({ body }) => body?.cancel()).then(settle, settle);
  }
}

/** True when no answer comes for `limitMs`; false as soon as one does, or when this process was delayed itself. */
async function isSilent(probe: Probe, limitMs: number, stop: AbortSignal): Promise<boolean> {
  const stepMs = limitMs / STEPS;
  for (let step = 0; step < STEPS; step += 1) {
    const startedAt = performance.now();
    await pause(stepMs, undefined, { signal: stop });
    if (probe.isAnswered || performance.now() - startedAt > 2 * stepMs) return false;
  }
  return true;
}

/** Whether the process existed before, and has worked ever since or is paused. */
function isStuck({ pid, isStopped, cpuMs }: ProcessState, before: readonly ProcessState[], spanMs: number) {
  const earlier = before.find((process) => process.pid === pid);
  return earlier !== undefined && (isStopped || cpuMs - earlier.cpuMs >= spanMs * WORKING_SHARE);
}
