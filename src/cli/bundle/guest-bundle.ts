/** Bundles the harness that runs workflows in their isolate into `.wrangler/guest`; the Worker imports it as text. */
import path from "node:path";
import { build } from "esbuild";
import { ROOT } from "../process/wrangler.ts";

/** Writes `harness.txt`. */
export async function bundleGuest(): Promise<void> {
  await build({
    entryPoints: [path.join(ROOT, "src/sandbox/guest/harness.ts")],
    outfile: path.join(ROOT, ".wrangler/guest/harness.txt"),
    bundle: true,
    format: "esm",
    target: "es2024",
    minify: true,
    keepNames: false,
    external: ["cloudflare:*", "node:*", "./workflow.js"],
  });
}
