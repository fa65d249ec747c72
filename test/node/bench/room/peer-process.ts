/** Serves a peer of `peers/` in a Node.js process of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { CommandError } from "../../../../src/cli/process/command.ts";

const START_LIMIT_MS = 20_000;

export interface PeerProcess {
  readonly port: number;
  readonly pid: number;
}

/** Runs the peer while `work` runs. It has no state to save, and is killed in any case. */
export async function servingPeer<T>(
  name: string,
  stop: AbortSignal,
  work: (peer: PeerProcess) => Promise<T>,
): Promise<T> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, "../peers", `${name}.js`)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = () => child.kill("SIGKILL");
  // Miniflare exits this process at once on Ctrl-C; only the exit event still runs.
  process.once("exit", kill);
  const ended = once(child, "close");
  try {
    const limit = AbortSignal.any([stop, AbortSignal.timeout(START_LIMIT_MS)]);
    const [line] = await Promise.race([once(child.stdout, "data", { signal: limit }), ended]);
    const port = Number(line);
    if (!(port > 0)) throw new CommandError(`${name} did not start`);
    return await work({ port, pid: child.pid ?? 0 });
  } finally {
    kill();
    await ended;
    process.off("exit", kill);
  }
}
