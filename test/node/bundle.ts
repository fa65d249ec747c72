/** Bundles a Worker as a deploy would, for Miniflare to serve without wrangler. */
import { readdir } from "node:fs/promises";
import path from "node:path";
import type { V4WorkerOptions } from "miniflare";
import { ROOT, runWrangler } from "../../src/cli/wrangler.ts";

export const CONFIG = path.join(ROOT, "wrangler.toml");

/** Bundles the entry, or that of wrangler.toml, into the directory; gives what came of it as modules. */
export async function bundle(
  directory: string,
  stop: AbortSignal,
  entry: string = path.join(ROOT, "src/index.ts"),
): Promise<Pick<V4WorkerOptions, "modules" | "modulesRoot">> {
  const options = ["--config", CONFIG, "--env", "", "--dry-run", "--outdir", directory];
  await runWrangler(["deploy", entry, ...options], stop);
  const texts = (await readdir(directory)).filter((file) => file.endsWith(".txt"));
  const moduleOf = (type: "ESModule" | "Text", file: string) => ({ type, path: path.join(directory, file) });
  return {
    modules: [
      moduleOf("ESModule", `${path.parse(entry).name}.js`),
      ...texts.map((file) => moduleOf("Text", file)),
    ],
    modulesRoot: directory,
  };
}
