/** Bundles the demo's page for browsers into `.wrangler/public`, from where the Worker serves it. */
import path from "node:path";
import { build } from "esbuild";
import { ROOT } from "../process/wrangler.ts";

const PAGE = path.join(ROOT, "src/demo/page");

/** The page imports the SDK by the names that applications use. */
const ALIAS = {
  "atrium/client": path.join(ROOT, "src/sdk/client/index.ts"),
  "atrium/devtools": path.join(ROOT, "src/sdk/devtools/index.ts"),
  "atrium/documents/react": path.join(ROOT, "src/sdk/documents/react.ts"),
  "atrium/react": path.join(ROOT, "src/sdk/react/index.ts"),
};

export interface BundleOptions {
  /** Where the files go; by default the folder that wrangler.toml serves. */
  readonly outdir?: string;
  /** Whether React's development checks are included. */
  readonly development?: boolean;
}

/** Writes `demo.html` and the files of `demo/`. */
export async function bundleDemo({
  outdir = path.join(ROOT, ".wrangler/public"),
  development = false,
}: BundleOptions = {}): Promise<void> {
  await build({
    entryPoints: [
      { in: path.join(PAGE, "main.tsx"), out: "demo/app" },
      { in: path.join(PAGE, "style.css"), out: "demo/style" },
      { in: path.join(PAGE, "icon.svg"), out: "demo/icon" },
      { in: path.join(PAGE, "index.html"), out: "demo" },
    ],
    outdir,
    bundle: true,
    alias: ALIAS,
    format: "esm",
    jsx: "automatic",
    jsxDev: development,
    minify: !development,
    target: "es2022",
    loader: { ".html": "copy", ".svg": "copy" },
    external: ["/demo/*"],
    define: { "process.env.NODE_ENV": JSON.stringify(development ? "development" : "production") },
  });
}
