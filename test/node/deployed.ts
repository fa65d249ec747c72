/** What wrangler would deploy, as Miniflare takes it: the Worker's bundle, and what it imports as text. */
import { readdir } from "node:fs/promises";
import path from "node:path";
import { runWrangler } from "../../src/cli/service/wrangler.ts";
import { ROOT } from "./processes.ts";

/** The configuration of this checkout. */
export const CONFIG = path.join(ROOT, "wrangler.toml");

/** Among the options of a Worker those that say what its code is. */
export interface Bundle {
  readonly modules: { readonly type: "ESModule" | "Text"; readonly path: string }[];
  readonly modulesRoot: string;
}

/** Bundles the Worker that begins in `entry`, or else the one of this checkout, into the directory `out`. */
export async function bundleWorker(out: string, stop: AbortSignal, entry?: string): Promise<Bundle> {
  const entries = entry === undefined ? [] : [entry];
  await runWrangler(
    ["deploy", ...entries, "--config", CONFIG, "--env", "", "--dry-run", "--outdir", out],
    stop,
  );
  const main = `${path.parse(entry ?? "index.ts").name}.js`;
  const texts = (await readdir(out)).filter((file) => file.endsWith(".txt"));
  return {
    modules: [
      { type: "ESModule", path: path.join(out, main) },
      ...texts.map((file) => ({ type: "Text" as const, path: path.join(out, file) })),
    ],
    modulesRoot: out,
  };
}
