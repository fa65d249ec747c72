/** Notices when the process that started a command dies without passing on a signal, as npm does after SIGKILL. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const POLL_MS = 250;
/** npm starts its scripts in a shell, which many systems leave between npm and the script. */
const SHELLS = /(^|\/)(ash|bash|busybox|dash|sh|zsh)$/;

/** Calls `onDeath` once this process's parent has died, or npm where it is the parent's parent. */
export async function watchParent(onDeath: () => void): Promise<void> {
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

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
