/** Lets one process at a time write the bundles: two that write and tidy up at once delete each other's files. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { ROOT } from "../process/wrangler.ts";

const LOCK = path.join(ROOT, ".wrangler/bundle-lock.sqlite");
const POLL_MS = 100;
/** Bundling takes seconds. After this time something is wrong, and waiting longer does not help. */
const DEADLINE_MS = 300_000;

/**
 * Runs `work` while no other process does. The lock is SQLite's own on an empty database: the system releases it
 * when its process dies. Where it cannot be taken at all, the bundlers' own writes fail and say why.
 */
export async function withBundleLock<T>(work: () => Promise<T>): Promise<T> {
  await mkdir(path.dirname(LOCK), { recursive: true }).catch(() => undefined);
  const lock = await acquire(Date.now() + DEADLINE_MS);
  try {
    return await work();
  } finally {
    lock?.close();
  }
}

/** Null when the lock file cannot be opened, or is not released in time. */
async function acquire(deadline: number): Promise<DatabaseSync | null> {
  for (;;) {
    let lock: DatabaseSync | undefined;
    try {
      lock = new DatabaseSync(LOCK);
      lock.exec("BEGIN EXCLUSIVE");
      return lock;
    } catch (error) {
      lock?.close();
      const isTaken = (error as Error).message.includes("locked");
      if (!isTaken || Date.now() > deadline) return null;
    }
    await delay(POLL_MS);
  }
}
