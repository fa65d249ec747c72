/** Restarts a service that no longer answers because some code occupies its thread, or because it is paused. */
import { setTimeout as pause } from "node:timers/promises";
import { listGroup } from "../process/supervisor.ts";

/** The processor time, or the pause, of a service before it answers a small request. */
const SILENCE_LIMIT_MS = 10_000;
/** The wait is divided into steps, each of which shows whether this process itself was scheduled in time. */
const STEPS = 10;

interface WatchedService {
  readonly url: string;
  /** The process group of the service, and the program of its processes. */
  readonly groupId: number;
  readonly program: string;
}

/** A process since the service stopped answering. */
interface Silence {
  readonly cpuMs: number;
  pausedMs: number;
}

/**
 * Watches until `stop` aborts, and calls `restart` for a stuck process. The measure is the service's own processor time: a
 * starved or sleeping one is not restarted. Rejects when `stop` aborts, and without `ps`.
 */
export async function watch(
  { url, groupId, program }: WatchedService,
  restart: (pid: number, why: string) => void,
  stop: AbortSignal,
  limitMs = SILENCE_LIMIT_MS,
): Promise<void> {
  const stepMs = limitMs / STEPS;
  const seconds = limitMs / 1000;
  while (!stop.aborted) {
    const probe = new Probe(url, stop);
    const silences = new Map<number, Silence>();
    while (!probe.isAnswered) {
      const startedAt = performance.now();
      await pause(stepMs, undefined, { signal: stop });
      const isDelayed = performance.now() - startedAt > 2 * stepMs;
      const listed = await listGroup(groupId, program);
      if (probe.isAnswered) break;
      for (const { pid, isStopped, cpuMs } of listed) {
        const silence = silences.get(pid) ?? { cpuMs, pausedMs: 0 };
        silences.set(pid, silence);
        silence.pausedMs = isStopped && !isDelayed ? silence.pausedMs + stepMs : 0;
        const isBusy = cpuMs - silence.cpuMs >= limitMs;
        if (!isBusy && silence.pausedMs < limitMs) continue;
        const why = isBusy ? `used ${seconds} s of processor time` : `was paused for ${seconds} s`;
        restart(pid, `The service ${why} without an answer: its watchdog restarts it.`);
        silences.delete(pid);
      }
    }
    await pause(stepMs, undefined, { signal: stop });
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
