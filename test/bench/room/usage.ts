/** What a run takes: of time, of the server's processor, and of the generator itself. */
import { performance } from "node:perf_hooks";
import { processorSeconds } from "../gauge.ts";

export interface Usage {
  readonly elapsedS: number;
  /** Cores that the server used; null where the system does not tell. */
  readonly cores: number | null;
  /** How busy the generator was; near 1 it is the generator that was measured. */
  readonly generator: number;
}

/** Begins to measure; the function that it gives tells what was used since. */
export function watchUsage(pid: number): () => Usage {
  const begunAt = performance.now();
  const processor = processorSeconds(pid);
  const loop = performance.eventLoopUtilization();
  return () => {
    const elapsedS = (performance.now() - begunAt) / 1000;
    const now = processorSeconds(pid);
    return {
      elapsedS,
      cores: now === null || processor === null ? null : (now - processor) / elapsedS,
      generator: performance.eventLoopUtilization(loop).utilization,
    };
  };
}
