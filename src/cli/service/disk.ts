/** The disk with the service's state: when it is full, workerd fails and aborts until there is space. */
import { statfs } from "node:fs/promises";

const MEBIBYTE = 1024 * 1024;
const LOW_MIB = 200;
const CHECK_MS = 10_000;

/** Tells how much of a folder's disk is free; tests inject it. */
export type ReadDisk = (folder: string) => Promise<{ readonly bavail: number; readonly bsize: number }>;

/** The problem of a folder's disk with its remedy; null while enough is free. */
export async function findDiskProblem(folder: string, read: ReadDisk = statfs): Promise<string | null> {
  const { bavail, bsize } = await read(folder);
  const free = Math.floor((bavail * bsize) / MEBIBYTE);
  return free >= LOW_MIB
    ? null
    : `Only ${free} MiB are free on the disk of the service's state, less than ${LOW_MIB} MiB. Free some space, or move the state to a larger disk: while the disk is full, requests fail, reads included. The service goes on once there is space, and loses nothing that it has acknowledged.`;
}

/** Answers the Worker's health check: with a problem, or with an empty text. */
export const diskService = (folder: string, read?: ReadDisk) => async (): Promise<Response> =>
  new Response(await findDiskProblem(folder, read));

/** Writes a line when the disk runs low, and one when enough is free again. */
export function watchDisk(
  folder: string,
  print: (line: string) => void,
  stop: AbortSignal,
  { read, everyMs = CHECK_MS }: { readonly read?: ReadDisk; readonly everyMs?: number } = {},
): void {
  let isLow = false;
  let timer: NodeJS.Timeout;
  const check = async () => {
    try {
      const problem = await findDiskProblem(folder, read);
      if (problem !== null && !isLow) print(`${problem} The folder is ${folder}.`);
      if (problem === null && isLow) print(`The disk of ${folder} has enough space again.`);
      isLow = problem !== null;
    } catch (error) {
      if (!isLow) print(`The free space of ${folder} is not known: ${String(error)}`);
      isLow = true;
    }
    if (!stop.aborted) timer = setTimeout(check, everyMs);
  };
  stop.addEventListener("abort", () => clearTimeout(timer), { once: true });
  void check();
}
