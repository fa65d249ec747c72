/** The bundles beside the Worker: the front page, the pages of /demo, /dashboard and /docs, and the harness of workflows. */

import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { fingerprintSources } from "../process/sources.ts";
import { ROOT } from "../process/supervisor.ts";

/** Lets one process at a time write the bundles: two that write and tidy up at once delete each other's files. */
const LOCK = path.join(ROOT, ".wrangler/bundle-lock.sqlite");
const POLL_MS = 100;
/** Bundling takes seconds: waiting longer does not help. */
const DEADLINE_MS = 300_000;

/** Runs `work` while no other process does. The system releases SQLite's lock when its process dies. */
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

const STAMP = path.join(ROOT, ".wrangler/served-files");
const BUNDLES = [
  "public/_headers",
  "public/demo.html",
  "public/dashboard/index.html",
  "public/docs/index.html",
  "public/assets/front/live.html",
  "public/assets/style/mark.svg",
  "guest/harness.txt",
  "guest/program-worker.js",
].map((file) => path.join(ROOT, ".wrangler", file));

export async function areServedFilesCurrent(sources: string): Promise<boolean> {
  const made = await readFile(STAMP, "utf8").catch(() => "");
  return made === sources && (await filesExist(BUNDLES));
}

/** Makes the bundles, unless they are current. Only one of several processes makes them. */
export async function bundleServedFiles(): Promise<void> {
  const sources = await fingerprintSources();
  if (await areServedFilesCurrent(sources)) return;
  await withBundleLock(async () => {
    if (!(await areServedFilesCurrent(sources))) await makeBundles(sources);
  });
}

async function makeBundles(sources: string): Promise<void> {
  // The bundlers take longer to load than everything else that a start does when nothing has changed.
  const [
    { bundleDemo, bundleGuest },
    { bundleDashboard },
    { bundleDocs },
    { bundleFront },
    { bundleStyle },
    { writeHeaders },
  ] = await Promise.all([
    import("./demo-bundle.ts"),
    import("./dashboard-bundle.ts"),
    import("./docs-bundle.ts"),
    import("./front-bundle.ts"),
    import("./style-bundle.ts"),
    import("./static-files.ts"),
  ]);
  await Promise.all([
    bundleDemo(),
    bundleDashboard(),
    bundleDocs(),
    bundleFront(),
    bundleStyle(),
    bundleGuest(),
    writeHeaders(),
  ]);
  await writeFile(STAMP, sources);
}

export const filesExist = (files: readonly string[]): Promise<boolean> =>
  Promise.all(files.map((file) => access(file))).then(
    () => true,
    () => false,
  );
