/** Child processes of the network tests: run to their end, found by parent, and killed with everything they started. */
import { execFileSync, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import path from "node:path";

export const ROOT = path.join(import.meta.dirname, "../../..");
const POLL_MS = 20;

export interface Finished {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Limit against hanging, far above the time on a busy machine. */
const HANGS_MS = 180_000;

/** Runs a program to its end. */
export function run(
  program: string,
  args: readonly string[],
  {
    cwd = ROOT,
    timeoutMs = HANGS_MS,
    env = {},
  }: { readonly cwd?: string; readonly timeoutMs?: number; readonly env?: Record<string, string> } = {},
): Promise<Finished> {
  const child = spawn(program, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs,
    env: { ...process.env, ...env },
  });
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      output[stream] += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode) => resolve({ exitCode, ...output }));
  });
}

/** Runs one of the commands in src/cli as its npm script does. */
export const runCli = (script: string, args: readonly string[], cwd: string = ROOT): Promise<Finished> =>
  run(process.execPath, [path.join(cwd, "src/cli", script), ...args], { cwd });

/** Repeats the check until it is true. Throws when that takes longer than the deadline. */
export async function eventually(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  deadlineMs = 100_000,
): Promise<void> {
  const end = Date.now() + deadlineMs;
  while (!(await isTrue())) {
    if (Date.now() > end) throw new Error(`Not within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** The living processes, by id. A zombie is dead; its parent has not asked for its exit code yet. */
function livingProcesses(): Map<number, { readonly parent: number; readonly command: string }> {
  const table = execFileSync("ps", ["-A", "-ww", "-o", "pid=,ppid=,stat=,args="], { encoding: "utf8" });
  const living = new Map<number, { parent: number; command: string }>();
  for (const line of table.split("\n")) {
    const [, pid, parent, state = "Z", command = ""] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (!state.startsWith("Z")) living.set(Number(pid), { parent: Number(parent), command });
  }
  return living;
}

/** A process and its descendants, parents first. */
export function processTree(root: number): { readonly pid: number; readonly command: string }[] {
  const living = livingProcesses();
  const tree = living.has(root) ? [{ pid: root, command: living.get(root)?.command ?? "" }] : [];
  for (const { pid: parent } of tree) {
    for (const [pid, process] of living) {
      if (process.parent === parent) tree.push({ pid, command: process.command });
    }
  }
  return tree;
}

/** Waits until none of the processes is alive. */
export const allGone = (pids: readonly number[], deadlineMs?: number): Promise<void> =>
  eventually(
    "the processes are gone",
    () => {
      const living = livingProcesses();
      return !pids.some((pid) => living.has(pid));
    },
    deadlineMs,
  );

/** Kills a process with all its descendants, as a machine that loses power would. */
export async function killTree(root: number): Promise<void> {
  const pids = processTree(root).map(({ pid }) => pid);
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process has ended since it was listed.
    }
  }
  await allGone(pids);
}

/** Ports below those that systems give to connections and to listeners on port 0, so that these take none of ours. */
const [FIRST_PORT, LAST_PORT] = [10_240, 32_000];

/** A port that is free now and most likely stays so, also during a restart of the service that listens there. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer().once("error", () => resolve(false));
      server.listen(port, () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
