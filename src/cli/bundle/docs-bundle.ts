/** The documentation as browsers load it, in `.wrangler/public`: rendered pages, and static files. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { OUTSIDE, PICTURE, renderGuides } from "@atrium/docs/guides.ts";
import { type BuildOptions, build } from "esbuild";
import { imageSize } from "image-size";
import { ROOT } from "../process/supervisor.ts";
import { replaceFiles } from "./demo-bundle.ts";
import { bundleLive } from "./live-bundle.ts";
import { PUBLIC } from "./static-files.ts";

const BROWSER = path.join(ROOT, "packages/docs/browser");
const QUICKSTARTS = "docs/quickstarts";

/** Writes the guides into `docs/`, and their pictures, scripts and styles into `assets/docs/`. */
export async function bundleDocs(): Promise<void> {
  const names = (await readdir(path.join(ROOT, "docs"), { recursive: true })).map((name) =>
    path.posix.join("docs", name),
  );
  const documents = new Map<string, string>();
  for (const file of [...Object.keys(OUTSIDE), ...names.filter((name) => name.endsWith(".md"))])
    documents.set(file, await readFile(path.join(ROOT, file), "utf8"));
  const pictures = new Map<string, Uint8Array>();
  for (const file of names.filter((name) => PICTURE.test(name)))
    pictures.set(file, await readFile(path.join(ROOT, file)));
  const sizes = new Map([...pictures].map(([file, picture]) => [file, imageSize(picture)]));
  const assets = new Map<string, Uint8Array>(await bundleAssets());
  for (const [file, picture] of pictures) assets.set(path.posix.relative("docs", file), picture);
  const pages = renderGuides(documents, sizes);
  for (const [file, markdown] of documents) {
    const name = path.basename(file, ".md");
    const live = path.dirname(file) === QUICKSTARTS ? await bundleLive(name, markdown) : null;
    if (live === null) continue;
    pages.set(`live/${name}.html`, live.html);
    for (const [asset, content] of live.assets) assets.set(asset, content);
  }
  await replaceFiles(path.join(PUBLIC, "docs"), pages);
  await replaceFiles(path.join(PUBLIC, "assets/docs"), assets);
}

const OPTIONS = {
  outdir: "/assets",
  bundle: true,
  minify: true,
  target: "es2022",
  external: ["/assets/*"],
  write: false,
} as const satisfies BuildOptions;

/** The script of the theme is no module: it runs before the page is painted. */
async function bundleAssets(): Promise<[string, Uint8Array][]> {
  const entries = (...files: string[]) => files.map((name) => path.join(BROWSER, name));
  const results = await Promise.all([
    build({ ...OPTIONS, entryPoints: entries("docs.ts", "docs.css"), format: "esm", splitting: true }),
    build({ ...OPTIONS, entryPoints: entries("theme.ts"), format: "iife" }),
  ]);
  return results
    .flatMap(({ outputFiles }) => outputFiles)
    .map((file) => [path.basename(file.path), file.contents]);
}
