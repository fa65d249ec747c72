/** Keeps two services off one state folder: they would overwrite each other's data. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CommandError } from "../process/command.ts";
import { writePrivateFile } from "../process/folder.ts";

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
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(lockIn(folder));
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock?.close();
    const { message } = error as Error;
    if (!message.includes("locked")) throw new CommandError(`Cannot lock ${lockIn(folder)}: ${message}.`);
    throw new CommandError(await describeHolder(folder, port));
  }
  held.add(lock);
  const holder: Holder = { pid: process.pid, port, since: new Date().toISOString() };
  await writePrivateFile(holderIn(folder), `${JSON.stringify(holder)}\n`);
}

/** Says who holds the lock, and what to do for a service on `port`. */
async function describeHolder(folder: string, port: number): Promise<string> {
  const holder = await readHolder(folder);
  const who = holder && `: process ${holder.pid}, port ${holder.port}, since ${holder.since}`;
  const free = holder?.port === port ? port + 1 : port;
  return (
    `Atrium already runs on the state folder ${folder}${who ?? ""}. Stop it first, or give the new one ` +
    `a state folder of its own: npm start -- --port ${free} --persist-to DIR`
  );
}

/** Null when the holder got the lock just now. */
async function readHolder(folder: string): Promise<Holder | null> {
  try {
    return JSON.parse(await readFile(holderIn(folder), "utf8")) as Holder;
  } catch {
    return null;
  }
}
