/** Bundles the dashboard for browsers with Vite, into `.wrangler/public`, from where the Worker serves it. */
import path from "node:path";
import { build, type Plugin } from "vite";
import { workflowDeclarations } from "../package/declarations.ts";
import { ROOT } from "../process/supervisor.ts";
import { PUBLIC, replaceFiles } from "./demo-bundle.ts";

const PAGE = path.join(ROOT, "packages/dashboard");

/** The declarations for the workflow editor. */
const DECLARATIONS = "atrium/workflow/declarations";
const declarations: Plugin = {
  name: "workflow-declarations",
  enforce: "pre",
  resolveId: (id) => (id === DECLARATIONS ? id : null),
  load: async (id) =>
    id === DECLARATIONS ? `export default ${JSON.stringify(await workflowDeclarations())}` : null,
};

/** The first versions that support `light-dark()`, nested rules and popovers. */
const BROWSERS = ["chrome123", "edge123", "firefox125", "safari17.5"];

/** Writes the files of `dashboard/`. All names but `index.html` contain a hash of the content. */
export async function bundleDashboard(outdir = PUBLIC): Promise<void> {
  const result = await build({
    root: PAGE,
    configFile: false,
    base: "/dashboard/",
    mode: "production",
    logLevel: "error",
    plugins: [declarations],
    // Independent of NODE_ENV in the environment.
    oxc: { jsx: { runtime: "automatic", development: false } },
    define: { "process.env.NODE_ENV": JSON.stringify("production") },
    build: {
      write: false,
      target: BROWSERS,
      minify: true,
      // The Content-Security-Policy allows no inline scripts or pictures.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // The pages verify no webhooks, and the CommonJS module would stay without this.
      rolldownOptions: { treeshake: { moduleSideEffects: (id) => !id.includes("/standardwebhooks/") } },
    },
  });
  const outputs = Array.isArray(result) ? result : [result];
  const files = outputs.flatMap((one) => ("output" in one ? one.output : []));
  const contents = files.map(
    (file) => [file.fileName, file.type === "asset" ? file.source : file.code] as const,
  );
  await replaceFiles(path.join(outdir, "dashboard"), new Map(contents));
}
