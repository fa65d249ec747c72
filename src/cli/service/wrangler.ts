/** Runs this checkout's wrangler as a child process, and leaves nothing of it behind. */
import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { CommandError } from "../command.ts";

/** The checkout that this file belongs to. */
export const ROOT = path.join(import.meta.dirname, "../../..");
const WRANGLER = path.join(ROOT, "node_modules/wrangler/bin/wrangler.js");

/** The last three also spare wrangler its question for updates and a log file of each error. */
const QUIET = {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_WRITE_LOGS: "false",
};
/** How long wrangler may take to end when asked, before it is killed. It needs some 50 ms. */
const GRACE_MS = 5000;

export interface WranglerProcess {
  readonly child: ChildProcess;
  /** Its exit code (null when a signal ended it), once its whole process group is gone. */
  readonly ended: Promise<number | null>;
}

/**
 * Starts wrangler in a process group of its own: a Ctrl-C then reaches this process alone, which asks
 * wrangler once to end, and whatever of the group outlives wrangler (workerd, when wrangler crashed) is killed.
 */
export function spawnWrangler(
  args: readonly string[],
  stop: AbortSignal,
  environment: Readonly<Record<string, string>> = {},
): WranglerProcess {
  stop.throwIfAborted();
  const child = spawn(process.execPath, [WRANGLER, ...args], {
    cwd: ROOT,
    detached: process.platform !== "win32",
    env: {
      ...environment,
      ...process.env,
      ...QUIET,
      // The build command of wrangler.toml calls `node`: it shall be this one.
      PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH}`,
    },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const killGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // Nobody of the group is left.
    }
  };
  let deadline: NodeJS.Timeout | undefined;
  const askToEnd = () => {
    child.kill("SIGTERM");
    deadline = setTimeout(killGroup, GRACE_MS);
  };
  process.once("exit", killGroup);
  stop.addEventListener("abort", askToEnd, { once: true });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", killGroup);
    child.once("close", resolve);
  }).finally(() => {
    clearTimeout(deadline);
    process.off("exit", killGroup);
    stop.removeEventListener("abort", askToEnd);
  });
  return { child, ended };
}

/** Runs a wrangler command that ends by itself; throws a CommandError with what it said when it fails. */
export async function runWrangler(args: readonly string[], stop: AbortSignal): Promise<void> {
  const { child, ended } = spawnWrangler(args, stop);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const exitCode = await ended;
  stop.throwIfAborted();
  if (exitCode !== 0) throw new CommandError(reasonIn(stripVTControlCharacters(output)));
}

/** Wrangler's own words for what went wrong, without its decoration. */
function reasonIn(output: string): string {
  const [, reason] = /\[ERROR\]\s*([\s\S]+)/.exec(output) ?? [];
  return `wrangler failed: ${(reason ?? output).trim().replace(/\s*\n\s*/g, " ")}`;
}
