/** Bundles the harness that runs workflows, and the Worker of a process for programs, into `.wrangler/guest`. */
import path from "node:path";
import { build } from "esbuild";
import { ROOT } from "../process/wrangler.ts";

const GUEST = path.join(ROOT, ".wrangler/guest");

/** Writes `harness.txt`, and `program-worker.js` with it inside. */
export async function bundleGuest(): Promise<void> {
  const options = { bundle: true, format: "esm", target: "es2024", minify: true, keepNames: false } as const;
  await build({
    ...options,
    entryPoints: [path.join(ROOT, "src/sandbox/guest/harness.ts")],
    outfile: path.join(GUEST, "harness.txt"),
    external: ["cloudflare:*", "node:*", "./workflow.js"],
  });
  await build({
    ...options,
    entryPoints: [path.join(ROOT, "src/sandbox/runners/program-worker.ts")],
    outfile: path.join(GUEST, "program-worker.js"),
    external: ["cloudflare:*", "node:*"],
    loader: { ".txt": "text" },
  });
}
