/** Bundles the dashboard for browsers with Vite, into `.wrangler/public`: a page, and static files. */
import path from "node:path";
import { build, type Plugin, type Rolldown } from "vite";
import { workflowDeclarations } from "../package/declarations.ts";
import { ROOT } from "../process/supervisor.ts";
import { replaceFiles } from "./demo-bundle.ts";
import { PUBLIC } from "./static-files.ts";

const PAGE = path.join(ROOT, "packages/dashboard");
type OutputFile = Rolldown.OutputChunk | Rolldown.OutputAsset;

/** The declarations for the workflow editor. */
const DECLARATIONS = "atrium/workflow/declarations";
const declarations: Plugin = {
  name: "workflow-declarations",
  enforce: "pre",
  resolveId: (id) => (id === DECLARATIONS ? id : null),
  load: async (id) =>
    id === DECLARATIONS ? `export default ${JSON.stringify(await workflowDeclarations())}` : null,
};

/** React's interface in an eighth of its size, which the first visit waits for. */
const RUNTIME = {
  "react/jsx-runtime": "preact/jsx-runtime",
  "react-dom/client": "preact/compat/client",
  "react-dom": "preact/compat",
  react: "preact/compat",
};

/** The first versions that support `light-dark()`, nested rules and popovers. */
const BROWSERS = ["chrome123", "edge123", "firefox125", "safari17.5"];

const PAGE_FILE = "index.html";
const FILES = "assets/dashboard";
const OVERVIEW = "overview/overview-page.tsx";
const EARLY = "data/early.ts";

/**
 * The page for those who are signed in and come to the overview: it asks for the code of that and for what it shows at
 * once, and not one after the other.
 */
function overviewPage(page: string, files: readonly OutputFile[]): string {
  const chunks = files.filter((file) => file.type === "chunk");
  const chunkOf = (source: string) =>
    chunks.find(({ facadeModuleId }) => facadeModuleId === path.join(PAGE, source));
  const needed = new Set<string>();
  const need = (name: string) => {
    if (needed.has(name) || page.includes(name)) return;
    needed.add(name);
    for (const other of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) need(other);
  };
  need(chunkOf(OVERVIEW)?.fileName ?? "");
  const preloads = [...needed].map((name) => `<link rel="modulepreload" crossorigin href="/${name}">`);
  const early = `<script type="module" async crossorigin src="/${chunkOf(EARLY)?.fileName}"></script>`;
  return page.replace("</title>", `</title>\n${early}`).replace("</head>", `${preloads.join("\n")}\n</head>`);
}

/** Writes the pages of `dashboard/` and the files of `assets/dashboard/`, whose names contain a hash of the content. */
export async function bundleDashboard(outdir = PUBLIC): Promise<void> {
  const result = await build({
    root: PAGE,
    configFile: false,
    base: "/",
    mode: "production",
    logLevel: "error",
    plugins: [declarations],
    resolve: { alias: RUNTIME },
    // Independent of NODE_ENV in the environment.
    oxc: { jsx: { runtime: "automatic", development: false } },
    define: { "process.env.NODE_ENV": JSON.stringify("production") },
    build: {
      write: false,
      target: BROWSERS,
      minify: true,
      assetsDir: FILES,
      // The Content-Security-Policy allows no inline scripts or pictures.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // The pages verify no webhooks, and the CommonJS module would stay without this.
      rolldownOptions: {
        input: [path.join(PAGE, PAGE_FILE), path.join(PAGE, EARLY)],
        treeshake: { moduleSideEffects: (id) => !id.includes("/standardwebhooks/") },
      },
    },
  });
  const outputs = Array.isArray(result) ? result : [result];
  const files = outputs.flatMap((one) => ("output" in one ? one.output : []));
  const contents = new Map(
    files.map((file) => [file.fileName, file.type === "asset" ? file.source : file.code] as const),
  );
  const page = String(contents.get(PAGE_FILE));
  const assets = [...contents].filter(([name]) => name !== PAGE_FILE);
  const pages = new Map([
    [PAGE_FILE, page],
    ["overview.html", overviewPage(page, files)],
  ]);
  await replaceFiles(path.join(outdir, "dashboard"), pages);
  await replaceFiles(
    path.join(outdir, FILES),
    new Map(assets.map(([name, content]) => [path.posix.relative(FILES, name), content])),
  );
}
