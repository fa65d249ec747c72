/** The documentation as browsers load it: rendered into `.wrangler/public/docs`, from where the Worker serves it. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { OUTSIDE, PICTURE, renderGuides } from "@atrium/docs/guides.ts";
import { build } from "esbuild";
import { ROOT } from "../process/supervisor.ts";
import { PUBLIC, replaceFiles } from "./demo-bundle.ts";

const BROWSER = path.join(ROOT, "packages/docs/browser");

/** Writes the files of `docs/`: the guides, their pictures, scripts and styles. */
export async function bundleDocs(): Promise<void> {
  const names = (await readdir(path.join(ROOT, "docs"), { recursive: true })).map((name) =>
    path.posix.join("docs", name),
  );
  const documents = new Map<string, string>();
  for (const file of [...Object.keys(OUTSIDE), ...names.filter((name) => name.endsWith(".md"))])
    documents.set(file, await readFile(path.join(ROOT, file), "utf8"));
  const files = new Map<string, string | Uint8Array>([...(await bundleAssets()), ...renderGuides(documents)]);
  for (const file of names.filter((name) => PICTURE.test(name)))
    files.set(path.posix.relative("docs", file), await readFile(path.join(ROOT, file)));
  await replaceFiles(path.join(PUBLIC, "docs"), files);
}

async function bundleAssets(): Promise<[string, Uint8Array][]> {
  const { outputFiles } = await build({
    entryPoints: ["docs.ts", "theme.ts", "docs.css", "icon.svg"].map((name) => path.join(BROWSER, name)),
    outdir: "/assets",
    bundle: true,
    format: "esm",
    minify: true,
    target: "es2022",
    loader: { ".svg": "copy" },
    write: false,
  });
  return outputFiles.map((file) => [path.posix.join("assets", path.basename(file.path)), file.contents]);
}
