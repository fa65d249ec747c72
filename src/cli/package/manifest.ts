/** The package's own manifest, and the licences of the packages that are bundled into it. */
import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { ROOT } from "../process/supervisor.ts";

/** The package's folder, and the manifest that its own sources are found by. */
export const SDK = path.join(ROOT, "packages/sdk");
const SOURCES: {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly sideEffects: readonly string[];
  readonly exports: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: object;
} = JSON.parse(readFileSync(path.join(SDK, "package.json"), "utf8"));

/** The packages that applications provide. */
export const PEERS = Object.keys(SOURCES.peerDependencies);

/** Entries of the package by their names, and the modules behind them as paths below `packages`. */
const entriesWith = (ending: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(SOURCES.exports)
      .filter(([name, file]) => !name.startsWith("./internal/") && file.endsWith(ending))
      .map(([name, file]) => [name.slice(2).replace(/\.css$/, ""), path.join("sdk", file)]),
  );
export const ENTRIES = entriesWith(".ts");
export const STYLES = entriesWith(".css");

/** The oldest platforms that the package runs on, as docs/guides/connecting.md names them. */
export const OLDEST_PLATFORMS = ["chrome109", "edge109", "firefox115", "safari16.4", "node22.18"];

export const TYPES = "types";
/** The same entries for Node.js, whose stack traces quote them: bundlers for browsers do not resolve its condition. */
export const READABLE = "node";

export function packageManifest(): object {
  const { version, description, license, sideEffects, peerDependencies, peerDependenciesMeta } = SOURCES;
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
    description,
    license,
    type: "module",
    sideEffects,
    exports: { ...Object.fromEntries([...entries, ...styles]), "./package.json": "./package.json" },
    peerDependencies,
    peerDependenciesMeta,
  };
}

const PACKAGES = path.join(ROOT, "node_modules");
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
