/** Drafts: what a process builds under a name of its own, until it is complete and gets its final one. */
import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import { isAlive } from "./supervisor.ts";

const DRAFT = /^draft-(\d+)/;

/** The path of this process's draft in a folder. */
export const draftIn = (folder: string): string => path.join(folder, `draft-${process.pid}`);

/** Removes everything in the folder but this path and the drafts of processes that live: a crash leaves its draft. */
export async function removeOthers(folder: string, kept: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid] = DRAFT.exec(name) ?? [];
    const isKept = path.join(folder, name) === kept || (pid !== undefined && isAlive(Number(pid)));
    if (!isKept) await rm(path.join(folder, name), { recursive: true, force: true });
  }
}
