/** A process for programs: a workerd that listens at a private socket, and its use of processor and memory. */

import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { parseTime } from "../../process/supervisor.ts";

export interface ProgramProcess {
  readonly pid: number;
  readonly address: string;
  /** Required by each call. */
  readonly token: string;
  /** Settles when it listens; rejects when it ends before that. */
  readonly ready: Promise<void>;
  /** Settles when it has ended: true when it ran out of memory by its own account. */
  readonly ended: Promise<boolean>;
  kill(): void;
}

export type StartProcess = () => ProgramProcess;

const TOKEN_BYTES = 32;
const KIBIBYTES_OF_MB = 1024;
/** A shell, where the system has these, gives the service's own thread precedence and bounds the memory of the process. */
const BOUNDED = 'ulimit -d "$1" 2>/dev/null; shift; exec nice -n 5 "$@"';
/** V8's and workerd's last words for want of memory. */
const OUT_OF_MEMORY = /heap limit|out of memory|OOM|allocation failed/i;
/** The kept end of a process's output. */
const MAX_ERROR_LENGTH = 16 * 1024;

/** The workerd of this machine that Miniflare uses. */
function findWorkerd(): string {
  const fromMiniflare = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  return (fromMiniflare("workerd") as { readonly default: string }).default;
}

/** Starts processes with sockets in `folder`, which must be private. The system gives each `dataMb` of writable memory. */
export function makeStarter(folder: string, config: string, dataMb: number): StartProcess {
  const workerd = findWorkerd();
  let count = 0;
  return () => {
    count += 1;
    const socket = path.join(folder, `${count}.sock`);
    const token = randomBytes(TOKEN_BYTES).toString("hex");
    return start([workerd, "serve", config], socket, token, dataMb);
  };
}

function start(serve: readonly string[], socket: string, token: string, dataMb: number): ProgramProcess {
  const command = [...serve, "--experimental", "--control-fd=1", `--debug-port=unix:${socket}`];
  const child = spawn("sh", ["-c", BOUNDED, "sh", String(dataMb * KIBIBYTES_OF_MB), ...command], {
    env: { PATH: process.env.PATH, TOKEN: token },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed = (printed + text).slice(-MAX_ERROR_LENGTH);
  });
  const ended = new Promise<boolean>((resolve) => {
    child.once("error", () => resolve(false));
    child.once("close", () => resolve(OUT_OF_MEMORY.test(printed)));
  });
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes('"listen"')) resolve();
    });
    child.once("error", reject);
    child.once("close", () => reject(new Error(`A process for programs could not start: ${printed.trim()}`)));
  });
  ready.catch(() => {}); // the lease that waits for it reports it
  return {
    pid: child.pid ?? 0,
    address: `unix:${socket}`,
    token,
    ready,
    ended,
    kill: () => child.kill("SIGKILL"),
  };
}

export interface Usage {
  /** Processor time since the start of the process, in steps of 10 ms, or 1 s on some systems. */
  readonly cpuMs: number;
  /** Private memory; shared memory is included where only `ps` reports it. */
  readonly memoryBytes: number;
}

const KIBIBYTE = 1024;
/** Linux counts processor time for programs in hundredths of a second, on every architecture. */
const TICK_MS = 10;

export async function readUsage(pids: readonly number[]): Promise<ReadonlyMap<number, Usage>> {
  if (pids.length === 0) return new Map();
  const read = process.platform === "linux" ? readProc(pids) : await readPs(pids);
  return new Map(read);
}

/** Synchronously: the files are in memory, and a run waits for them. */
function readProc(pids: readonly number[]): [number, Usage][] {
  return pids.flatMap((pid): [number, Usage][] => {
    try {
      const [stat, status] = [`/proc/${pid}/stat`, `/proc/${pid}/status`];
      return [[pid, parseProc(readFileSync(stat, "latin1"), readFileSync(status, "latin1"))]];
    } catch {
      return []; // the process has ended
    }
  });
}

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
  // `ps` exits with 1 when all of the processes have ended.
  const { stdout } = await promisify(execFile)("ps", args).catch(() => ({ stdout: "" }));
  return stdout.split("\n").flatMap((line): [number, Usage][] => {
    const [, pid, rss, time = ""] = LINE.exec(line) ?? [];
    if (pid === undefined) return [];
    return [[Number(pid), { cpuMs: parseTime(time), memoryBytes: Number(rss) * KIBIBYTE }]];
  });
}
