/** The live pages of quickstarts, made from the files that their Markdown shows: the same as those of the finished folder. */
import { existsSync } from "node:fs";
import path from "node:path";
import { filesOf } from "@atrium/docs/archive.ts";
import { type LivePage, livePageOf } from "@atrium/docs/live/page.ts";
import { build, type Loader, type Plugin } from "esbuild";
import { ROOT } from "../process/supervisor.ts";

const MODULES = path.join(ROOT, "node_modules");
const SERVER = path.join(ROOT, "packages/docs/live/server.ts");
const FOLDER = "live";

interface LiveBundle {
  /** The page, which loads the assets. */
  readonly html: string;
  /** By their names in `/assets/docs/`. */
  readonly assets: readonly (readonly [name: string, content: Uint8Array])[];
}

/** Bundles the page of a quickstart; null for one without a page. */
export async function bundleLive(name: string, markdown: string): Promise<LiveBundle | null> {
  const files = filesOf(markdown);
  const index = files.get("index.html");
  if (index === undefined) return null;
  const page = livePageOf(index, `/assets/docs/${FOLDER}/${name}`);
  const { outputFiles } = await build({
    stdin: { contents: entryOf(page), resolveDir: ROOT },
    outfile: `/${name}.js`,
    bundle: true,
    format: "esm",
    jsx: "automatic",
    minify: true,
    target: "es2022",
    write: false,
    alias: aliasesOf(files.get("package.json") ?? "{}"),
    inject: [SERVER],
    plugins: [shown(new Map([...files, [OWN_STYLES, page.ownStyles]]))],
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const assets = outputFiles.map((file) => [`${FOLDER}/${path.basename(file.path)}`, file.contents] as const);
  return { html: page.html, assets };
}

const OWN_STYLES = "own-styles.css";

const entryOf = ({ script, styles }: LivePage): string =>
  [styles, OWN_STYLES, script]
    .flatMap((file) => (file === undefined ? [] : `import "./${file}";`))
    .join("\n");

/** The second version of a package that this repository has, as of React, where the quickstart has that one. */
function aliasesOf(manifest: string): Record<string, string> {
  const { dependencies = {} }: { dependencies?: Record<string, string> } = JSON.parse(manifest);
  const twins = Object.entries(dependencies).map(
    ([name, version]) => [name, `${name}-${version.split(".")[0]}`] as const,
  );
  return Object.fromEntries(twins.filter(([, twin]) => existsSync(path.join(MODULES, twin))));
}

/** Finds the files that the page shows; packages are those of this repository. */
const shown = (files: ReadonlyMap<string, string>): Plugin => ({
  name: "quickstart",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^\.\// }, ({ path: target, importer, namespace }) => {
      if (importer !== "<stdin>" && namespace !== "quickstart") return undefined;
      const found = ["", ".tsx", ".ts", ".js"]
        .map((end) => target.slice(2) + end)
        .find((one) => files.has(one));
      return found === undefined ? undefined : { path: found, namespace: "quickstart" };
    });
    onLoad({ filter: /./, namespace: "quickstart" }, ({ path: file }) => ({
      contents: files.get(file) ?? "",
      loader: path.extname(file).slice(1) as Loader,
      resolveDir: ROOT,
    }));
  },
});
