/** The frame of every command: flags, one line and an exit code instead of a stack trace, and a clean end when stopped. */
import { execFile } from "node:child_process";
import { type ParseArgsOptionsConfig, parseArgs, promisify } from "node:util";
import { isAlive } from "./supervisor.ts";

/** Notices when the process that started a command dies without passing on a signal, as npm does after SIGKILL. */
const POLL_MS = 250;
/** npm starts its scripts in a shell, which many systems leave between npm and the script. */
const SHELLS = /(^|\/)(ash|bash|busybox|dash|sh|zsh)$/;

/** Calls `onDeath` once this process's parent has died, or npm where it is the parent's parent. */
async function watchParent(onDeath: () => void): Promise<void> {
  const parent = process.ppid;
  // An orphan gets another parent.
  const isOrphan = () => process.ppid !== parent;
  let isNpmDead = () => false;
  const poll = setInterval(() => {
    if (!isOrphan() && !isNpmDead()) return;
    clearInterval(poll);
    onDeath();
  }, POLL_MS).unref();

  const npm = process.env.npm_lifecycle_event === undefined ? null : await findParentOfShell(parent);
  if (npm !== null) isNpmDead = () => !isAlive(npm);
}

async function findParentOfShell(pid: number): Promise<number | null> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "ppid=,comm=", "-p", String(pid)]);
    const [, parent = "", command = ""] = /^\s*(\d+)\s+(.*?)\s*$/.exec(stdout) ?? [];
    return SHELLS.test(command) && Number(parent) > 1 ? Number(parent) : null;
  } catch {
    return null; // there is no `ps`, or the parent has just died
  }
}

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A failure that the person at the terminal reads about in one line. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The command line is not understood; the message is the usage line. */
export class UsageError extends CommandError {
  constructor(message: string) {
    super(message, 2);
  }
}

/** Parses a command line, by default this process's. Throws the usage line for unknown flags. */
export function readFlags<const Options extends ParseArgsOptionsConfig>(
  usage: string,
  args: string[],
  options: Options,
) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch {
    throw new UsageError(usage);
  }
}

/**
 * Runs a command and sets the exit code. Stop signals and the parent's death abort the signal of `main`, which ends its
 * children first. Repeated signals are ignored: npm passes on a second Ctrl-C.
 */
export async function runCommand(
  main: (stop: AbortSignal) => Promise<void>,
  { help, interruptedExitCode = 130 }: { readonly help: string; readonly interruptedExitCode?: number },
): Promise<void> {
  if (process.argv.slice(2).some((argument) => argument === "--help" || argument === "-h")) {
    console.log(help);
    return;
  }
  const stopping = new AbortController();
  for (const name of STOP_SIGNALS) process.on(name, () => stopping.abort());
  void watchParent(() => stopping.abort());
  try {
    await main(stopping.signal);
  } catch (error) {
    // Exits at once: a request under way must not keep the process alive.
    if (stopping.signal.aborted) process.exit(interruptedExitCode);
    if (!(error instanceof CommandError)) throw error;
    console.error(error.message);
    process.exitCode = error.exitCode;
  }
}
