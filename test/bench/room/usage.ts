/** The resources that a run uses: time, the server's processor, and the load generator. */
import { performance } from "node:perf_hooks";
import { processorSeconds } from "../gauge.ts";

export interface Usage {
  readonly elapsedS: number;
  /** Processor cores that the server used; null if unknown. */
  readonly cores: number | null;
  /** The utilization of the load generator; near 1, it was the limit. */
  readonly generator: number;
}

/** Starts a measurement; the returned function reports the usage since then. */
export function watchUsage(pid: number): () => Usage {
  const startedAt = performance.now();
  const processor = processorSeconds(pid);
  const loop = performance.eventLoopUtilization();
  return () => {
    const elapsedS = (performance.now() - startedAt) / 1000;
    const now = processorSeconds(pid);
    return {
      elapsedS,
      cores: now === null || processor === null ? null : (now - processor) / elapsedS,
      generator: performance.eventLoopUtilization(loop).utilization,
    };
  };
}
