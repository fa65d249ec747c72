/** `npm run build`: builds the package that applications install. `npm publish ./dist` publishes it. */
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type BuildFailure, build } from "esbuild";
import { writeDeclarations } from "./package/declarations.ts";
import {
  bundledLicenses,
  ENTRIES,
  OLDEST_PLATFORMS,
  PEERS,
  packageManifest,
  READABLE,
  SDK,
  STYLES,
  TYPES,
} from "./package/manifest.ts";
import { CommandError, readFlags, runCommand, UsageError } from "./process/command.ts";
import { Steps } from "./process/steps.ts";
import { ROOT, spawnSupervised } from "./process/supervisor.ts";

const USAGE = "Usage: npm run build -- [--out DIR]";
const HELP = `${USAGE}

Builds the package that applications install. \`npm publish ./dist\` publishes it.

  --out DIR  where the package is written; dist by default`;
const TSC = path.join(ROOT, "node_modules/typescript/bin/tsc");

interface SourceMap {
  readonly sources: readonly string[];
  readonly sourcesContent: readonly string[];
}

/** Writes a module for each entry; shared code has modules of its own. Returns the bundled files of this checkout. */
async function bundle(outdir: string, entries: object, minify: boolean): Promise<readonly string[]> {
  const entryPoints = Object.entries(entries).map(([out, file]) => ({
    out,
    in: path.join(ROOT, "packages", file),
  }));
  try {
    const { metafile } = await build({
      absWorkingDir: ROOT,
      entryPoints,
      outdir,
      external: PEERS,
      bundle: true,
      splitting: true,
      minify,
      sourcemap: minify,
      metafile: true,
      format: "esm",
      jsx: "automatic",
      target: OLDEST_PLATFORMS,
      logLevel: "silent",
    });
    await dropPublishedSources(Object.keys(metafile.outputs));
    return Object.keys(metafile.inputs);
  } catch (error) {
    throw new CommandError(`The bundle failed: ${(error as BuildFailure).message}`);
  }
}

/** Source maps keep the sources of this checkout; other packages publish their own. */
async function dropPublishedSources(outputs: readonly string[]): Promise<void> {
  for (const output of outputs.filter((name) => name.endsWith(".map"))) {
    const file = path.resolve(ROOT, output);
    const map: SourceMap = JSON.parse(await readFile(file, "utf8"));
    const sourcesContent = map.sources.map((source, index) =>
      source.includes("node_modules/") ? null : map.sourcesContent[index],
    );
    await writeFile(file, JSON.stringify({ ...map, sourcesContent }));
  }
}

/** Lets the compiler emit the declarations of all modules, and keeps those that the entries reach. */
async function declare(outdir: string, stop: AbortSignal): Promise<void> {
  const emitted = await mkdtemp(path.join(outdir, "emitted-"));
  const emits = ["--noEmit", "false", "--emitDeclarationOnly", "--rootDir", ROOT, "--outDir", emitted];
  const args = [TSC, "-p", SDK, ...emits];
  const { ended } = spawnSupervised(args, { output: "inherit", endedBy: "SIGTERM" }, stop);
  if ((await ended) !== 0) throw new CommandError("The types failed: see above.");
  await writeDeclarations({
    emitted,
    outdir: path.join(outdir, TYPES),
    entries: Object.values(ENTRIES),
    packages: PEERS,
  });
  for (const name of Object.keys(STYLES)) {
    const target = path.join(outdir, TYPES, `${name}.css.d.ts`);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, "export {};\n");
  }
  await rm(emitted, { recursive: true });
}

async function describe(outdir: string, bundled: readonly string[]): Promise<void> {
  await writeFile(path.join(outdir, "package.json"), `${JSON.stringify(packageManifest(), null, 2)}\n`);
  await copyFile(path.join(SDK, "README.md"), path.join(outdir, "README.md"));
  await copyFile(path.join(ROOT, "LICENSE"), path.join(outdir, "LICENSE"));
  await writeFile(path.join(outdir, "THIRD-PARTY-LICENSES"), await bundledLicenses(bundled));
}

async function main(stop: AbortSignal): Promise<void> {
  const { values, positionals } = readFlags(USAGE, process.argv.slice(2), { out: { type: "string" } });
  if (positionals.length > 0) throw new UsageError(USAGE);
  const { out: folder = "dist" } = values;
  const out = path.resolve(ROOT, folder);
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const steps = new Steps(stop);
  await steps.show("Bundling the package", async () => {
    await describe(out, await bundle(out, { ...ENTRIES, ...STYLES }, true));
    await bundle(path.join(out, READABLE), ENTRIES, false);
  });
  await steps.show("Checking the types, and writing their declarations", () => declare(out, stop));
  console.log(`The package is in ${folder}`);
}

await runCommand(main, { help: HELP });
