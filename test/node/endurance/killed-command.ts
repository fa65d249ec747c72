/** Runs `npm run account` again and again, killed at any point, until it is done. */
import { spawn } from "node:child_process";
import path from "node:path";
import { expect } from "vitest";
import type { Random } from "../../support/random.ts";
import { ROOT } from "../cli/processes.ts";

interface Kills {
  /** How often at most: a command that is done before is not killed. */
  readonly times: number;
  /** Most lines of the command's output before a kill. */
  readonly maxLines: number;
  readonly random: Random;
}

/** Runs the command to its end, after it was killed that often. It must succeed. */
export async function runKilled(args: readonly string[], { times, maxLines, random }: Kills): Promise<void> {
  for (let kill = 0; kill < times; kill += 1)
    if ((await runOnce(args, 1 + random(maxLines), random(30))).exitCode === 0) return;
  const { exitCode, stderr } = await runOnce(args, Number.POSITIVE_INFINITY, 0);
  expect([exitCode, exitCode === 0 ? "" : stderr]).toEqual([0, ""]);
}

/** Kills the command some milliseconds after it has printed a number of lines. Its exit code is null then. */
function runOnce(
  args: readonly string[],
  lines: number,
  delayMs: number,
): Promise<{ readonly exitCode: number | null; readonly stderr: string }> {
  const command = [path.join(ROOT, "src/cli/account.ts"), ...args];
  const child = spawn(process.execPath, command, { cwd: ROOT, stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    if (stderr.split("\n").length > lines) setTimeout(() => child.kill("SIGKILL"), delayMs);
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode) => resolve({ exitCode, stderr }));
  });
}
