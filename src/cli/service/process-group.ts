/** What the system tells of the processes of a group: which of them work, and how much. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface ProcessState {
  readonly pid: number;
  /** By a signal or a debugger; it goes on when somebody lets it. */
  readonly isStopped: boolean;
  /** Processor time that it has used so far, in milliseconds; some systems tell whole seconds. */
  readonly cpuMs: number;
}

const LINE = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+([\d:.-]+)\s+(.+?)\s*$/;

/** The processes of the group whose program has this name. Rejects where there is no `ps`. */
export async function listGroup(groupId: number, program: string): Promise<readonly ProcessState[]> {
  const columns = "pid=,pgid=,state=,time=,comm=";
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", columns]);
  return stdout.split("\n").flatMap((line) => {
    const [, pid, group, state = "", time = "", command = ""] = LINE.exec(line) ?? [];
    const isMeant = Number(group) === groupId && command.split("/").at(-1) === program;
    return isMeant ? [{ pid: Number(pid), isStopped: /^t/i.test(state), cpuMs: parseTime(time) }] : [];
  });
}

/** `[[days-]hours:]minutes:seconds`, with or without a fraction. */
export function parseTime(time: string): number {
  const [clock = "", days = "0"] = time.split("-").reverse();
  const seconds = clock.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1000;
}
