/** Reserves a port and a state folder: two services on one folder would overwrite each other's data. */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CommandError } from "../process/command.ts";
import { writePrivateFile } from "../process/folder.ts";

interface Holder {
  readonly pid: number;
  readonly port: number;
  /** Start time in ISO 8601. */
  readonly since: string;
}

/** Kept for as long as the process lives: closing the database would release the lock. */
const held = new Set<DatabaseSync>();

const lockIn = (folder: string): string => path.join(folder, "lock.sqlite");
const holderIn = (folder: string): string => path.join(folder, "lock.json");

/** Whether a service has used the folder before. */
export const isStateFolder = (folder: string): boolean => existsSync(lockIn(folder));

/**
 * Locks the state folder until this process ends. The system releases SQLite's lock when its process dies, so no lock is
 * ever stale. Throws a CommandError that names another holder.
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

/** Names the holder of the lock, and the way out for a service on `port`. */
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

/** `localhost` means both loopback addresses; the wildcard finds programs that listen on all addresses. */
const HOSTS = ["127.0.0.1", "::1", "::"];

export type PortProblem = "EADDRINUSE" | "EACCES";

/** Null when the service can listen on the port. */
export async function findPortProblem(port: number): Promise<PortProblem | null> {
  for (const host of HOSTS) {
    const problem = await tryToListen(port, host);
    // Other problems mean that this machine lacks the address family.
    if (problem === "EADDRINUSE" || problem === "EACCES") return problem;
  }
  return null;
}

function tryToListen(port: number, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "UNKNOWN"));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
