/** What a server's process uses, as Linux counts it; elsewhere nothing is known. */
import { existsSync, readdirSync, readFileSync } from "node:fs";

const TICKS_PER_S = 100;
const PAGE_BYTES = 4096;
/** Places in /proc/PID/stat, counted from what follows the name in parentheses. */
const PARENT = 1;
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;
const RESIDENT_PAGES = 21;

const CALM_SHARE = 0.1;
const CALM_SAMPLE_MS = 200;
const CALM_LIMIT_MS = 20_000;

/** Processor time used so far in seconds; null where the system does not tell. */
export function processorSeconds(pid: number): number | null {
  const stat = statOf(pid);
  if (stat === null) return null;
  return (Number(stat[USER_TICKS]) + Number(stat[SYSTEM_TICKS])) / TICKS_PER_S;
}

/** Memory held now; null where the system does not tell. */
export function residentBytes(pid: number): number | null {
  const stat = statOf(pid);
  return stat === null ? null : Number(stat[RESIDENT_PAGES]) * PAGE_BYTES;
}

/** The processes that this one has started; empty where the system does not tell. */
export function childProcesses(): number[] {
  if (!existsSync("/proc/self/stat")) return [];
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && Number(statOf(pid)?.[PARENT]) === process.pid);
}

function statOf(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}

/** Waits until the process rests, so that what one run left undone does not burden the next. */
export async function calm(pid: number, stop: AbortSignal): Promise<void> {
  const limit = performance.now() + CALM_LIMIT_MS;
  for (let used = processorSeconds(pid); used !== null && performance.now() < limit; ) {
    stop.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, CALM_SAMPLE_MS));
    const now: number | null = processorSeconds(pid);
    if (now === null || ((now - used) * 1000) / CALM_SAMPLE_MS < CALM_SHARE) return;
    used = now;
  }
}
