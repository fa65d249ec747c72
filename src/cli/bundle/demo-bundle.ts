/** Bundles of esbuild: the demo's page in `.wrangler/public`, and the harness of workflows in `.wrangler/guest`. */

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";
import { ROOT } from "../process/supervisor.ts";
import { PUBLIC } from "./static-files.ts";

const PAGE = path.join(ROOT, "examples/demo");
const FILES = "assets/demo";

/** Writes `demo.html` and the files of `assets/demo/`: panels are loaded as they are opened. */
export async function bundleDemo({ outdir = PUBLIC, development = false } = {}): Promise<void> {
  const { metafile } = await build({
    entryPoints: [
      { in: path.join(PAGE, "main.tsx"), out: `${FILES}/app` },
      { in: path.join(PAGE, "style.css"), out: `${FILES}/style` },
      { in: path.join(PAGE, "index.html"), out: "demo" },
    ],
    outdir,
    bundle: true,
    splitting: true,
    chunkNames: `${FILES}/[name]-[hash]`,
    metafile: true,
    format: "esm",
    jsx: "automatic",
    jsxDev: development,
    minify: !development,
    target: "es2022",
    loader: { ".html": "copy" },
    external: ["/assets/*"],
    define: { "process.env.NODE_ENV": JSON.stringify(development ? "development" : "production") },
  });
  const written = new Set(Object.keys(metafile.outputs).map((file) => path.resolve(file)));
  const folder = path.join(outdir, FILES);
  const stale = (await readdir(folder))
    .map((name) => path.join(folder, name))
    .filter((file) => !written.has(file));
  await Promise.all(stale.map((file) => rm(file)));
}

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

/** Writes the files that differ and removes those that are not among them; the others stay untouched. */
export async function replaceFiles(
  directory: string,
  files: ReadonlyMap<string, string | Uint8Array>,
): Promise<void> {
  for (const [name, content] of files) {
    const file = path.join(directory, name);
    const known = await readFile(file).catch(() => null);
    if (known?.equals(Buffer.from(content))) continue;
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile() && !files.has(path.relative(directory, file))) await rm(file, { force: true });
  }
}
