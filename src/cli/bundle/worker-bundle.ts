/** The Worker as Miniflare takes it: bundled by wrangler, as a deployment would. */
import { readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { draftIn, removeOthers } from "../process/drafts.ts";
import { makeWritableFolder } from "../process/folder.ts";
import { fingerprintSources } from "../process/sources.ts";
import { Steps } from "../process/steps.ts";
import { ROOT } from "../process/supervisor.ts";
import { CONFIG, runWrangler } from "../process/wrangler.ts";
import type { WorkerModules } from "../service/server.ts";
import { areServedFilesCurrent, filesExist } from "./served-files.ts";

/** Holds the latest bundle, in a folder that is named by the fingerprint of its sources. */
const BUNDLES = path.join(ROOT, ".wrangler/worker");

/** Bundles the Worker whose main module is `entry`, or else this checkout's, into the folder `out`. */
export async function bundleWorker(out: string, stop: AbortSignal, entry?: string): Promise<WorkerModules> {
  const entries = entry === undefined ? [] : [entry];
  const flags = ["--config", CONFIG, "--env", "", "--dry-run", "--outdir", out];
  await runWrangler(["deploy", ...entries, ...flags], stop);
  return modulesIn(out, `${path.parse(entry ?? "index.ts").name}.js`);
}

async function modulesIn(folder: string, main: string): Promise<WorkerModules> {
  const texts = (await readdir(folder)).filter((file) => file.endsWith(".txt"));
  return {
    modules: [
      { type: "ESModule", path: path.join(folder, main) },
      ...texts.map((file) => ({ type: "Text" as const, path: path.join(folder, file) })),
    ],
    modulesRoot: folder,
  };
}

/** The bundle of this checkout's Worker, made anew when a source has changed. */
export async function bundleCurrentWorker(stop: AbortSignal): Promise<WorkerModules> {
  const sources = await fingerprintSources();
  const folder = path.join(BUNDLES, sources.slice(0, 16));
  const modules = () => modulesIn(folder, "index.js");
  if ((await areServedFilesCurrent(sources)) && (await filesExist([folder]))) return modules();

  await makeWritableFolder(BUNDLES);
  const title = "Building the pages and the Worker, which later starts skip until a source changes";
  // Built under another name first: a folder under its final name is complete.
  const draft = draftIn(BUNDLES);
  await rm(draft, { recursive: true, force: true }); // a crashed process may have had the same ID, as in a container
  try {
    await new Steps(stop).show(title, () => bundleWorker(draft, stop));
    await rename(draft, folder).catch(ignoreExisting);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  await removeOthers(BUNDLES, folder);
  return modules();
}

/** Another start may have made the same bundle at the same time. */
function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
}
