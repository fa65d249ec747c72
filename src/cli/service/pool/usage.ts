/** How much processor time and memory processes use: from /proc where there is one, else as `ps` reports it. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { parseTime } from "../../process/process-group.ts";

export interface Usage {
  /** Processor time since the process began, in milliseconds; in steps of ten, or of a second on some systems. */
  readonly cpuMs: number;
  /** Memory that it alone occupies, in bytes; where only `ps` says it, with what it shares. */
  readonly memoryBytes: number;
}

const KIBIBYTE = 1024;
/** Linux counts processor time for programs in hundredths of a second, on every architecture. */
const TICK_MS = 10;

/** The usage of those that still run. */
export async function readUsage(pids: readonly number[]): Promise<ReadonlyMap<number, Usage>> {
  if (pids.length === 0) return new Map();
  const read = process.platform === "linux" ? readProc(pids) : await readPs(pids);
  return new Map(read);
}

/** At once: the files are in memory, and a run waits for what they say. */
function readProc(pids: readonly number[]): [number, Usage][] {
  return pids.flatMap((pid): [number, Usage][] => {
    try {
      const [stat, status] = [`/proc/${pid}/stat`, `/proc/${pid}/status`];
      return [[pid, parseProc(readFileSync(stat, "latin1"), readFileSync(status, "latin1"))]];
    } catch {
      return []; // it has ended
    }
  });
}

/** Reads `/proc/PID/stat` and `/proc/PID/status`. */
export function parseProc(stat: string, status: string): Usage {
  // The name of the program, in parentheses, may contain anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user = "0", system = "0"] = fields.slice(11, 13);
  const kibibytes = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+)/gm)].map(([, size]) => Number(size));
  return {
    cpuMs: (Number(user) + Number(system)) * TICK_MS,
    memoryBytes: kibibytes.reduce((sum, size) => sum + size, 0) * KIBIBYTE,
  };
}

const LINE = /^\s*(\d+)\s+(\d+)\s+([\d:.-]+)\s*$/;

async function readPs(pids: readonly number[]): Promise<[number, Usage][]> {
  const args = ["-o", "pid=,rss=,time=", "-p", pids.join(",")];
  // It exits with 1 when all of them have ended.
  const { stdout } = await promisify(execFile)("ps", args).catch(() => ({ stdout: "" }));
  return stdout.split("\n").flatMap((line): [number, Usage][] => {
    const [, pid, rss, time = ""] = LINE.exec(line) ?? [];
    if (pid === undefined) return [];
    return [[Number(pid), { cpuMs: parseTime(time), memoryBytes: Number(rss) * KIBIBYTE }]];
  });
}
