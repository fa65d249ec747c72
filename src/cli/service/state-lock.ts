/** Keeps two services off one state folder: they would overwrite each other's data. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CommandError } from "../command.ts";
import { writePrivateFile } from "../folder.ts";

/** Who holds the lock. */
interface Holder {
  readonly pid: number;
  readonly port: number;
  /** In ISO 8601. */
  readonly since: string;
}

/** Kept for as long as the process lives: closing the database would release the lock. */
const held = new Set<DatabaseSync>();

const lockIn = (folder: string): string => path.join(folder, "lock.sqlite");
const holderIn = (folder: string): string => path.join(folder, "lock.json");

/** Whether a service has used the folder before. */
export const isStateFolder = (folder: string): boolean => existsSync(lockIn(folder));

/**
 * Locks the state folder until this process ends. The lock is SQLite's own on an empty database: the system
 * grants it to one process and releases it when that process dies, so no lock is ever stale. Throws a
 * CommandError that names the holder when another service has it.
 */
export async function lockStateFolder(folder: string, port: number): Promise<void> {
  const lock = new DatabaseSync(lockIn(folder));
  try {
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if (!String(error).includes("locked")) throw error;
    throw new CommandError(`${await describeHolder(folder)} ${whatToDo(port)}`);
  }
  held.add(lock);
  const holder: Holder = { pid: process.pid, port, since: new Date().toISOString() };
  await writePrivateFile(holderIn(folder), `${JSON.stringify(holder)}\n`);
}

const whatToDo = (port: number): string =>
  `Stop that one first, or give this one a state folder of its own: npm start -- --port ${port} --persist-to DIR`;

async function describeHolder(folder: string): Promise<string> {
  try {
    const { pid, port, since } = JSON.parse(await readFile(holderIn(folder), "utf8")) as Holder;
    return `Atrium already runs on the state folder ${folder}: process ${pid}, port ${port}, since ${since}.`;
  } catch {
    // It got the lock just now.
    return `Atrium already runs on the state folder ${folder}.`;
  }
}
