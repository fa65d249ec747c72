/** The files that all pages share, in `.wrangler/public/assets/style`: the mark, the typeface with its license, and the page of the style. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { stylePage } from "@atrium/docs/style-page.ts";
import { build } from "esbuild";
import { ROOT } from "../process/supervisor.ts";
import { replaceFiles } from "./demo-bundle.ts";
import { PUBLIC } from "./static-files.ts";

const STYLE = path.join(ROOT, "packages/style");
const TYPEFACE = path.dirname(
  createRequire(path.join(STYLE, "package.json")).resolve("@fontsource-variable/figtree/package.json"),
);

/** The files by their names; pages name the first three. */
export async function bundleStyle(): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: [path.join(STYLE, "page.css")],
    outdir: "/assets",
    bundle: true,
    minify: true,
    external: ["/assets/*"],
    write: false,
  });
  const sources = {
    "mark.svg": path.join(STYLE, "mark.svg"),
    "figtree.woff2": path.join(TYPEFACE, "files/figtree-latin-wght-normal.woff2"),
    "figtree-license.txt": path.join(TYPEFACE, "LICENSE"),
  };
  const files = new Map<string, Uint8Array | string>([
    ["page.css", outputFiles[0]?.contents ?? ""],
    ["page.html", stylePage(await readFile(path.join(STYLE, "tokens.css"), "utf8"))],
  ]);
  for (const [name, file] of Object.entries(sources)) files.set(name, await readFile(file));
  await replaceFiles(path.join(PUBLIC, "assets/style"), files);
}
