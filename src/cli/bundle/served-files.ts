/** What is bundled beside the Worker: the pages of /demo, /dashboard and /docs, and the code that runs beside workflows. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { ROOT } from "../process/wrangler.ts";
import { withBundleLock } from "./bundle-lock.ts";
import { filesExist, fingerprintSources } from "./sources.ts";

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
