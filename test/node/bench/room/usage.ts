/** The resources that a run uses: time, the server's processor, and the load generator. */
import { availableParallelism, cpus } from "node:os";
import { performance } from "node:perf_hooks";
import { processorSeconds } from "../gauge.ts";

export interface Usage {
  readonly elapsedS: number;
  /** Processor cores that the server used; null if unknown. */
  readonly cores: number | null;
  /** The utilization of the load generator; near 1, it was the limit. */
  readonly generator: number;
  /** Processor cores that other processes of the machine used. */
  readonly elsewhere: number;
}

/** Utilization above which a run says more about the load generator or the machine than about the server. */
const BUSY_GENERATOR = 0.9;
/** Cores that a run needs: one for the server, one for the load generator. */
const CORES = 2;

/** Why a run does not measure the server; null if it does. */
export function limitOf({ generator, elsewhere }: Pick<Usage, "generator" | "elsewhere">): string | null {
  if (generator >= BUSY_GENERATOR) return "the load generator's thread was the limit";
  if (elsewhere > availableParallelism() - CORES) return "other processes took the processor";
  return null;
}

/** Busy time of all processes, in seconds. */
const busySeconds = (): number =>
  cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0) / 1000;

const ownSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** Starts a measurement; the returned function reports the usage since then. */
export function watchUsage(pid: number): () => Usage {
  const startedAt = performance.now();
  const processor = processorSeconds(pid);
  const [busy, own] = [busySeconds(), ownSeconds()];
  const loop = performance.eventLoopUtilization();
  return () => {
    const elapsedS = (performance.now() - startedAt) / 1000;
    const now = processorSeconds(pid);
    const cores = now === null || processor === null ? null : (now - processor) / elapsedS;
    const used = (busySeconds() - busy - (ownSeconds() - own)) / elapsedS;
    return {
      elapsedS,
      cores,
      elsewhere: Math.max(0, used - (cores ?? 0)),
      generator: performance.eventLoopUtilization(loop).utilization,
    };
  };
}
