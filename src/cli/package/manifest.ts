/** The package's own manifest, and the licences of the packages that are bundled into it. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

interface RootManifest {
  readonly version: string;
  readonly license: string;
}

/** The entries of the package and the modules behind them, as paths below `src`. */
export const ENTRIES = {
  client: "sdk/client/index.ts",
  react: "sdk/react/index.ts",
  "react/suspense": "sdk/react/suspense.ts",
  "react-ui": "sdk/react-ui/index.ts",
  blocknote: "sdk/blocknote/index.ts",
  inbox: "sdk/inbox/index.ts",
  "push-worker": "sdk/push-worker/index.ts",
  offline: "sdk/offline/index.ts",
  documents: "sdk/documents/index.ts",
  "documents/react": "sdk/documents/react.ts",
  tldraw: "sdk/tldraw/index.ts",
  devtools: "sdk/devtools/index.ts",
  server: "sdk/server/index.ts",
  workflow: "sdk/workflow/index.ts",
};

/** The style sheets of the package, likewise. */
export const STYLES = { "react-ui/styles": "sdk/react-ui/styles.css" };

/** The oldest platforms that the package runs on, as docs/guides/connecting.md names them. */
export const OLDEST_PLATFORMS = ["chrome109", "edge109", "firefox115", "safari16.4", "node22.18"];

export const TYPES = "types";
/** The same entries for Node.js, whose stack traces quote them: bundlers for browsers do not resolve its condition. */
export const READABLE = "node";

export function packageManifest({ version, license }: RootManifest): object {
  const entries = Object.entries(ENTRIES).map(([name, file]) => {
    const types = `./${TYPES}/${file.replace(/\.ts$/, ".d.ts")}`;
    return [`./${name}`, { types, node: `./${READABLE}/${name}.js`, default: `./${name}.js` }];
  });
  const styles = Object.keys(STYLES).map((name) => [
    `./${name}.css`,
    { types: `./${TYPES}/${name}.css.d.ts`, default: `./${name}.css` },
  ]);
  return {
    name: "atrium",
    version,
    description:
      "Client, React hooks and components, server SDK and workflow types of Atrium, the open collaboration backend.",
    license,
    type: "module",
    sideEffects: ["**/*.css"],
    exports: { ...Object.fromEntries([...entries, ...styles]), "./package.json": "./package.json" },
    peerDependencies: { react: ">=18", "y-protocols": "^1.0.6", yjs: "^13.6.0" },
    peerDependenciesMeta: {
      react: { optional: true },
      "y-protocols": { optional: true },
      yjs: { optional: true },
    },
  };
}

const PACKAGES = path.join(import.meta.dirname, "../../../node_modules");
const PACKAGE = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly author?: string | { readonly name: string };
}

/** Name, version, licence and licence text of each package that these files, relative to the checkout, belong to. */
export async function bundledLicenses(files: readonly string[]): Promise<string> {
  const names = new Set(files.flatMap((file) => PACKAGE.exec(file)?.[1] ?? []));
  const licenses = await Promise.all([...names].sort().map(readLicense));
  return licenses.join("\n---\n\n");
}

async function readLicense(name: string): Promise<string> {
  const directory = path.join(PACKAGES, name);
  const manifest: Manifest = JSON.parse(await readFile(path.join(directory, "package.json"), "utf8"));
  const { version, license, author = "" } = manifest;
  const holder = typeof author === "string" ? author : author.name;
  const file = (await readdir(directory)).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? "" : `\n${await readFile(path.join(directory, file), "utf8")}`;
  return `${name} ${version}, ${license}${holder && `, by ${holder}`}\n${text}`;
}
