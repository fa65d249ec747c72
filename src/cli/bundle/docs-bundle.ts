/** The documentation as browsers load it: rendered into `.wrangler/public/docs`, from where the Worker serves it. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";
import type { SearchEntry } from "../../docs/browser/search-index.ts";
import { layout } from "../../docs/layout.ts";
import { html, markup } from "../../docs/text.ts";
import { ROOT } from "../process/wrangler.ts";
import type { BundleOptions } from "./demo-bundle.ts";
import { addressOf, INDEX, OUTSIDE, type Page, resolveLink } from "./docs-addresses.ts";
import { renderMarkdown } from "./docs-markdown.ts";
import { type Group, navigationHtml, readNavigation } from "./docs-navigation.ts";
import { replaceFiles } from "./replace-files.ts";

/** The documentation in Markdown, and the pictures in it. */
const DOCUMENTS = path.join(ROOT, "docs");
const BROWSER = path.join(ROOT, "src/docs/browser");

/** Writes the files of `docs/`: pages, pictures, the search index, and what the pages load. */
export async function bundleDocs({
  outdir = path.join(ROOT, ".wrangler/public"),
}: BundleOptions = {}): Promise<void> {
  const names = (await readdir(DOCUMENTS, { recursive: true })).map((name) => path.posix.join("docs", name));
  const documents = [...Object.keys(OUTSIDE), ...names.filter((name) => name.endsWith(".md"))];
  const pages: Page[] = [];
  const navigation = readNavigation(await readFile(path.join(ROOT, INDEX), "utf8"));
  for (const file of documents) {
    const text = await readFile(path.join(ROOT, file), "utf8");
    const page = renderMarkdown(text, (target) => resolveLink(file, target));
    pages.push({ ...page, address: addressOf(file) ?? "" });
  }
  const files = new Map<string, string | Uint8Array>(await bundleAssets());
  for (const page of pages) files.set(fileOf(page), renderPage(page, navigation));
  for (const file of names.filter((name) => name.endsWith(".png")))
    files.set(path.posix.relative("docs", file), await readFile(path.join(ROOT, file)));
  files.set("search.json", JSON.stringify(pages.flatMap(searchEntries)));
  await replaceFiles(path.join(outdir, "docs"), files);
}

/** `/docs` is the folder's index. */
const fileOf = ({ address }: Page): string =>
  address === "/docs" ? "index.html" : `${path.posix.relative("/docs", address)}.html`;

async function bundleAssets(): Promise<[string, Uint8Array][]> {
  const { outputFiles } = await build({
    entryPoints: ["docs.ts", "docs.css", "icon.svg"].map((name) => path.join(BROWSER, name)),
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

const renderPage = (page: Page, navigation: readonly Group[]): string =>
  layout({
    title: page.address === "/docs" ? page.title : `${page.title} · Atrium`,
    side: navigationHtml(navigation, page),
    content: html`<main id="content" class="guide">${markup(page.html)}</main>`,
  }).toString();

const searchEntries = ({ title: page, headings, address }: Page): SearchEntry[] =>
  headings.map(({ depth, title, id, text }) => ({
    title,
    page,
    url: depth === 1 ? address : `${address}#${id}`,
    text,
  }));
