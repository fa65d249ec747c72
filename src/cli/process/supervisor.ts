/** Child processes that never outlive this one: each ends with everything that it has started. */
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

/** How long a child may take to end when asked, before its group is killed. */
const GRACE_MS = 2_000;
/** How long a killed group may take to disappear. */
const DISAPPEARANCE_MS = 500;
const POLL_MS = 10;

/**
 * A shell that waits at a pipe from this process. A line means that the child has ended. Otherwise the pipe closes
 * when this process dies, even from SIGKILL, and the shell kills the process group that its argument names.
 */
const GUARD = 'read -r ended || kill -9 "-$1"';

const HAS_PROCESS_GROUPS = process.platform !== "win32";

interface SupervisedProcess {
  readonly child: ChildProcess;
  /** The process group of the child and of everything that it starts. */
  readonly groupId: number;
  /** The exit code (null after a signal), once the whole group is gone. */
  readonly ended: Promise<number | null>;
}

interface SupervisedOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whether the child writes to this process's output, or to pipes. It always has an IPC channel. */
  readonly output: "inherit" | "pipe";
  /** How the child is asked to end: by SIGTERM, or by the end of its IPC channel. */
  readonly endedBy: "SIGTERM" | "disconnect";
}

/**
 * Starts a Node.js program in a process group of its own, which no signal from the terminal reaches, and asks it to
 * end when `stop` aborts. Whatever remains of the group when the program has ended is killed.
 */
export function spawnSupervised(
  args: readonly string[],
  { cwd, env, output, endedBy }: SupervisedOptions,
  stop: AbortSignal,
): SupervisedProcess {
  stop.throwIfAborted();
  const child = spawn(process.execPath, args, {
    cwd,
    env,
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

function guard(groupId: number): () => void {
  if (!HAS_PROCESS_GROUPS || groupId === 0) return () => undefined;
  const shell = spawn("/bin/sh", ["-c", GUARD, "atrium-guard", String(groupId)], {
    detached: true, // what is sent to this process's group must not reach it
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
