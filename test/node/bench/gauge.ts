/** The processor time and memory of a process, from /proc; on other systems they are unknown. */
import { existsSync, readdirSync, readFileSync } from "node:fs";

const TICKS_PER_S = 100;
const PAGE_BYTES = 4096;
/** Field indexes in /proc/PID/stat, after the name in parentheses. */
const PARENT = 1;
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;
const RESIDENT_PAGES = 21;

const CALM_SHARE = 0.1;
const CALM_SAMPLE_MS = 200;
const CALM_LIMIT_MS = 20_000;

/** Processor time used so far, in seconds; null if unknown. */
export function processorSeconds(pid: number): number | null {
  const stat = statOf(pid);
  if (stat === null) return null;
  return (Number(stat[USER_TICKS]) + Number(stat[SYSTEM_TICKS])) / TICKS_PER_S;
}

/** Resident memory in bytes; null if unknown. */
export function residentBytes(pid: number): number | null {
  const stat = statOf(pid);
  return stat === null ? null : Number(stat[RESIDENT_PAGES]) * PAGE_BYTES;
}

/** The child processes of this one; empty if unknown. */
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

/** Waits until the process is idle, so that work left over from one run does not slow the next. */
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
