/** The processes of a process group, and how much processor time they have used, as `ps` reports them. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface ProcessState {
  readonly pid: number;
  /** Whether a signal or a debugger has paused it. */
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
