/** The dashboard as browsers load it: built by Vite into `.wrangler/public`, from where the Worker serves it. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { build } from "vite";
import { ROOT } from "../service/wrangler.ts";
import type { BundleOptions } from "./demo-bundle.ts";

const PAGE = path.join(ROOT, "src/dashboard/page");

/** The pages live on what applications use too. */
const ALIAS = {
  "atrium/client": path.join(ROOT, "src/sdk/client/index.ts"),
  "atrium/server": path.join(ROOT, "src/sdk/server/index.ts"),
  "atrium/source": path.join(ROOT, "src/sdk"),
};

/** All of these understand `light-dark()` and nested rules. */
const BROWSERS = ["chrome123", "edge123", "firefox120", "safari17.5"];

/** Writes the files of `dashboard/`, named by their content but for `index.html`. */
export async function bundleDashboard({
  outdir = path.join(ROOT, ".wrangler/public"),
  development = false,
}: BundleOptions = {}): Promise<void> {
  const result = await build({
    root: PAGE,
    configFile: false,
    base: "/dashboard/",
    mode: development ? "development" : "production",
    logLevel: "error",
    resolve: { alias: ALIAS },
    // Whatever NODE_ENV of those who build says.
    oxc: { jsx: { runtime: "automatic", development } },
    define: { "process.env.NODE_ENV": JSON.stringify(development ? "development" : "production") },
    build: {
      write: false,
      target: BROWSERS,
      minify: !development,
      // The Content-Security-Policy lets in no script or picture that is written into the page.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
  });
  const outputs = Array.isArray(result) ? result : [result];
  const files = outputs.flatMap((one) => ("output" in one ? one.output : []));
  const contents = files.map(
    (file) => [file.fileName, file.type === "asset" ? file.source : file.code] as const,
  );
  await replaceFiles(path.join(outdir, "dashboard"), new Map(contents));
}

/** Leaves alone what is there already, as another process may be serving it. */
async function replaceFiles(
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
