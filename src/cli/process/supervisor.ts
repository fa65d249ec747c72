/** Child processes that never outlive this one, and the state of process groups. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

/** Root folder of this checkout. */
export const ROOT = path.join(import.meta.dirname, "../../..");

/** Keeps wrangler and Miniflare from telemetry, update checks, log files, and requests to the Internet for a local service. */
const QUIET = {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_WRITE_LOGS: "false",
};

const GRACE_MS = 2_000;
const DISAPPEARANCE_MS = 500;
const POLL_MS = 10;

/** The shell waits at a pipe from this process. Without a line, when this process has died, it kills the process group. */
const GUARD = 'read -r ended || kill -9 "-$1"';

const HAS_PROCESS_GROUPS = process.platform !== "win32";

interface SupervisedProcess {
  readonly child: ChildProcess;
  readonly groupId: number;
  /** The exit code (null after a signal), once the whole group is gone. */
  readonly ended: Promise<number | null>;
}

interface SupervisedOptions {
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** The child always has an IPC channel. */
  readonly output: "inherit" | "pipe";
  /** The request to end: SIGTERM, or the end of the IPC channel. */
  readonly endedBy: "SIGTERM" | "disconnect";
}

/** Starts a Node.js program in this checkout, in a process group of its own. `stop` asks it to end; the rest of the group is killed then. */
export function spawnSupervised(
  args: readonly string[],
  { env, output, endedBy }: SupervisedOptions,
  stop: AbortSignal,
): SupervisedProcess {
  stop.throwIfAborted();
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...QUIET, ...env },
    detached: HAS_PROCESS_GROUPS,
    stdio: ["ignore", output, output, "ipc"],
  });
  const groupId = child.pid ?? 0;
  const dismissGuard = guard(groupId);
  const killGroup = () => signalGroup(groupId, "SIGKILL");
  let deadline: NodeJS.Timeout | undefined;
  const askToEnd = () => {
    if (endedBy === "SIGTERM") child.kill(endedBy);
    else if (child.connected) child.disconnect();
    deadline = setTimeout(killGroup, GRACE_MS);
  };
  process.once("exit", killGroup);
  stop.addEventListener("abort", askToEnd, { once: true });
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", killGroup);
    // A child whose channel this process has closed emits no `close`, which a piped output is complete at.
    child.once(output === "pipe" ? "close" : "exit", resolve);
  });
  const ended = closed
    .then(async (exitCode) => {
      await groupIsGone(groupId);
      return exitCode;
    })
    .finally(() => {
      clearTimeout(deadline);
      process.off("exit", killGroup);
      stop.removeEventListener("abort", askToEnd);
      dismissGuard();
    });
  return { child, groupId, ended };
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function guard(groupId: number): () => void {
  if (!HAS_PROCESS_GROUPS || groupId === 0) return () => undefined;
  const shell = spawn("/bin/sh", ["-c", GUARD, "atrium-guard", String(groupId)], {
    detached: true, // signals to this process's group must not reach the shell
    stdio: ["pipe", "ignore", "ignore"],
  });
  shell.on("error", () => undefined);
  shell.stdin.on("error", () => undefined);
  shell.unref();
  return () => shell.stdin.end("ended\n");
}

/** False when the group has no processes any more. */
function signalGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
  if (groupId === 0) return false;
  try {
    return process.kill(HAS_PROCESS_GROUPS ? -groupId : groupId, signal);
  } catch {
    return false;
  }
}

/** Killed processes hold their ports for a moment. In a container without an init they stay zombies: hence the limit. */
async function groupIsGone(groupId: number): Promise<void> {
  const limit = performance.now() + DISAPPEARANCE_MS;
  while (signalGroup(groupId, 0) && performance.now() < limit) await pause(POLL_MS);
}

interface ProcessState {
  readonly pid: number;
  readonly isStopped: boolean;
  /** The processor time it has used, in milliseconds. Some systems report whole seconds. */
  readonly cpuMs: number;
}

const LINE = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+([\d:.-]+)\s+(.+?)\s*$/;

/** The processes of the group whose program has this name. Rejects where there is no `ps`. */
export async function listGroup(groupId: number, program: string): Promise<readonly ProcessState[]> {
  const columns = "pid=,pgid=,state=,time=,comm=";
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", columns]);
  return stdout.split("\n").flatMap((line) => {
    const [, pid, group, state = "", time = "", command = ""] = LINE.exec(line) ?? [];
    const isListed = Number(group) === groupId && command.split("/").at(-1) === program;
    return isListed ? [{ pid: Number(pid), isStopped: /^t/i.test(state), cpuMs: parseTime(time) }] : [];
  });
}

/** `[[days-]hours:]minutes:seconds`, with or without a fraction. */
export function parseTime(time: string): number {
  const [clock = "", days = "0"] = time.split("-").reverse();
  const seconds = clock.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1000;
}
