/** Windows with the page of components, which finds the built package as an application does. */
import { copyFile, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { build } from "esbuild";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { complaintsOf } from "../chromium.ts";
import { ALIASES, type ReactVersion } from "../react-versions.ts";
import { buildPackage } from "../starter.ts";

const page = (
  version: string,
) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Weekly planning</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <link rel="icon" href="data:,"><link rel="stylesheet" href="/${version}/components.css">
  <style>
    body { margin: 0; background: var(--atrium-surface); color: var(--atrium-text); font: 1rem system-ui; }
    main { display: grid; gap: 1rem; max-width: 34rem; min-height: 100vh; box-sizing: border-box; margin: auto; padding: 1.5rem; align-content: start; }
    h1 { margin: 0; font-size: 1.25rem; }
    .people { display: flex; gap: 1rem; align-items: center; }
  </style>
  <script type="module" src="/${version}/components.js"></script><div id="root"></div></html>`;

export interface Components {
  /** Opens a window of the user with this token, or of an identity in a room. */
  open(
    browser: Browser,
    token: string,
    version: ReactVersion,
    look?: BrowserContextOptions & { readonly given?: Readonly<Record<string, string>> },
  ): Promise<{ readonly page: Page; readonly complaints: readonly string[] }>;
  /** The same in a page that there is. */
  openIn(
    page: Page,
    token: string,
    version: ReactVersion,
    given?: Readonly<Record<string, string>>,
  ): Promise<void>;
  remove(): Promise<void>;
}

/** Builds the package, and the page with each version of React. */
export async function buildComponents(serviceUrl: string): Promise<Components> {
  const dist = await buildPackage();
  const folder = `${dist}-page`;
  await mkdir(path.join(folder, "node_modules"), { recursive: true });
  await symlink(dist, path.join(folder, "node_modules/atrium"));
  await copyFile(path.join(import.meta.dirname, "components-page.tsx"), path.join(folder, "page.tsx"));
  await writeFile(
    path.join(folder, "components.ts"),
    'import "atrium/react-ui/styles.css";\nimport "./page";\n',
  );
  await writeFile(path.join(folder, "tsconfig.json"), "{}");
  const bundle = (version: ReactVersion) =>
    build({
      absWorkingDir: folder,
      entryPoints: ["components.ts"],
      outdir: path.join(folder, String(version)),
      bundle: true,
      logLevel: "error", // it warns of chunks without side effects
      format: "esm",
      jsx: "automatic",
      jsxDev: true,
      alias: ALIASES[version],
      define: { "process.env.NODE_ENV": '"development"' },
    });
  await Promise.all([bundle(18), bundle(19)]);
  const server = createServer(async ({ url = "/" }, response) => {
    const { pathname } = new URL(url, "http://localhost");
    const type = { ".js": "text/javascript", ".css": "text/css" }[path.extname(pathname)] ?? "text/html";
    response.setHeader("Content-Type", type);
    response.end(
      type === "text/html" ? page(pathname.slice(1)) : await readFile(path.join(folder, pathname)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  const openIn: Components["openIn"] = async (opened, token, version, given) => {
    const query = new URLSearchParams({ service: serviceUrl, ...given });
    await opened.goto(`http://localhost:${port}/${version}?${query}#${token}`);
  };
  return {
    open: async (browser, token, version, { given, ...look } = {}) => {
      const opened = await browser.newPage(look);
      const complaints = complaintsOf(opened);
      await openIn(opened, token, version, given);
      return { page: opened, complaints };
    },
    openIn,
    remove: async () => {
      server.close();
      for (const place of [dist, folder]) await rm(place, { recursive: true });
    },
  };
}
