/** The growth of the server's memory during one large upload. */
import { Agent } from "node:http";
import { calm, residentBytes } from "../gauge.ts";
import { median } from "../load.ts";
import type { BenchOptions } from "../run.ts";
import { type FileStore, MEBIBYTE } from "./stores.ts";
import { transfer } from "./transfer.ts";

/** The largest permitted file. */
const LARGE_BYTES = 100 * MEBIBYTE;
const SAMPLE_MS = 5;
/** Uploads before counting, which allocate lasting memory, such as compiled code. */
const WARM_UP_UPLOADS = 3;

/** The peak growth in bytes during an upload of 100 MiB: the median, and each run. */
export interface Rise {
  readonly bytes: number;
  readonly runs: readonly number[];
}

export async function measureRise(
  store: FileStore,
  pid: number,
  options: BenchOptions,
): Promise<Rise | null> {
  if (residentBytes(pid) === null) return null;
  for (let upload = 0; upload < WARM_UP_UPLOADS; upload += 1) await riseOf(store, pid, options.stop);
  const runs: number[] = [];
  for (let run = 0; run < options.runs; run += 1) runs.push(await riseOf(store, pid, options.stop));
  return { bytes: median(runs), runs };
}

async function riseOf(store: FileStore, pid: number, stop: AbortSignal): Promise<number> {
  await calm(pid, stop);
  const agent = new Agent();
  const before = residentBytes(pid) ?? 0;
  let peak = before;
  const sampling = setInterval(() => {
    peak = Math.max(peak, residentBytes(pid) ?? 0);
  }, SAMPLE_MS);
  try {
    const answer = await transfer(store.put(LARGE_BYTES), agent, stop);
    await store.remove([store.keyOf(answer)], stop);
    return peak - before;
  } finally {
    clearInterval(sampling);
    agent.destroy();
  }
}
