/** `npm run build`: what applications install: an ES module for each entry below, and the types of what it exports. */
import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { type BuildFailure, build } from "esbuild";
import { CommandError, runCommand, UsageError } from "./process/command.ts";
import { ROOT } from "./process/wrangler.ts";

const USAGE = "Usage: npm run build -- [--out DIR]";
const SDK = path.join(ROOT, "src/sdk");
const TSC = path.join(ROOT, "node_modules/typescript/bin/tsc");

/** Each becomes `<name>.js`; its types keep their place below `sdk/`, and `exports` in package.json names both. */
const ENTRIES = {
  client: "client/index.ts",
  server: "server/index.ts",
  react: "react/index.ts",
  workflow: "workflow/index.ts",
};
/** What applications bring themselves. */
const EXTERNAL = ["react"];

function parseOut(args: string[]): string {
  try {
    const { out = "dist" } = parseArgs({ args, options: { out: { type: "string" } } }).values;
    return path.resolve(ROOT, out);
  } catch {
    throw new UsageError(USAGE);
  }
}

/** What entries have in common becomes a module of its own, so that an application has each class once. */
async function bundle(outdir: string): Promise<void> {
  const entryPoints = Object.entries(ENTRIES).map(([out, file]) => ({ out, in: path.join(SDK, file) }));
  try {
    await build({
      entryPoints,
      outdir,
      external: EXTERNAL,
      bundle: true,
      splitting: true,
      minify: true,
      sourcemap: true,
      format: "esm",
      target: "es2022",
      logLevel: "silent",
    });
  } catch (error) {
    throw new CommandError(`The bundle failed: ${(error as BuildFailure).message}`);
  }
}

async function declare(outdir: string, stop: AbortSignal): Promise<void> {
  const compiler = spawn(process.execPath, [TSC, "-p", SDK, "--outDir", outdir], {
    stdio: "inherit",
    signal: stop,
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    compiler.once("error", reject);
    compiler.once("close", resolve);
  });
  if (exitCode !== 0) throw new CommandError("The types failed: see above.");
}

async function main(stop: AbortSignal): Promise<void> {
  const out = parseOut(process.argv.slice(2));
  await rm(out, { recursive: true, force: true });
  await bundle(out);
  await declare(out, stop);
}

await runCommand(main, { interruptedExitCode: 130 });
