/** What is bundled beside the Worker: the pages of /demo, /dashboard and /docs, and the code that runs beside workflows. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { ROOT } from "../process/wrangler.ts";
import { filesExist, fingerprintSources } from "./sources.ts";

/** Lets one process at a time write the bundles: two that write and tidy up at once delete each other's files. */
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

/** Holds the fingerprint of the sources that the bundles were made from. */
const STAMP = path.join(ROOT, ".wrangler/served-files");
const BUNDLES = [
  "public/demo.html",
  "public/dashboard/index.html",
  "public/docs/index.html",
  "guest/harness.txt",
  "guest/program-worker.js",
].map((file) => path.join(ROOT, ".wrangler", file));

/** Whether the bundles were made from sources with this fingerprint. */
export async function areServedFilesCurrent(sources: string): Promise<boolean> {
  const made = await readFile(STAMP, "utf8").catch(() => "");
  return made === sources && (await filesExist(BUNDLES));
}

/** Makes the bundles, unless they are current. Of several processes that want them at once, one makes them. */
export async function bundleServedFiles(): Promise<void> {
  const sources = await fingerprintSources();
  if (await areServedFilesCurrent(sources)) return;
  await withBundleLock(async () => {
    if (!(await areServedFilesCurrent(sources))) await makeBundles(sources);
  });
}

async function makeBundles(sources: string): Promise<void> {
  // The bundlers take longer to load than everything else that a start does when nothing has changed.
  const [{ bundleDemo }, { bundleDashboard }, { bundleDocs }, { bundleGuest }] = await Promise.all([
    import("./demo-bundle.ts"),
    import("./dashboard-bundle.ts"),
    import("./docs-bundle.ts"),
    import("./guest-bundle.ts"),
  ]);
  await Promise.all([bundleDemo(), bundleDashboard(), bundleDocs(), bundleGuest()]);
  await writeFile(STAMP, sources);
}
