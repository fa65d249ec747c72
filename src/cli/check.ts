/** Runs all checks of the sources, as many at once as there are cores, and prints the output of each that fails. */
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { stripVTControlCharacters } from "node:util";

/** One checker each: several would type the same modules several times, on cores that other checks use. */
const types = (project: string, cache: string): string[] => [
  ...["tsc", "-p", project, "--checkers", "1"],
  ...["--incremental", "--tsBuildInfoFile", `.wrangler/types/${cache}.tsbuildinfo`],
];

/** The workspaces with types of their own: checked alone, since types of Node or of workers hide what pages lack. */
const WORKSPACES = globSync("packages/*/tsconfig.json").map((file) => path.dirname(file));

/** The longest first. */
const CHECKS: Readonly<Record<string, readonly string[]>> = {
  architecture: ["vitest", "run", "--config", "test/vitest.config.ts", "--project", "architecture"],
  "types of the service and its tests": types(".", "service"),
  "types of pages, commands and their tests": types("test/node", "node"),
  "format and lint": ["biome", "ci"],
  "unused code": ["knip", "--no-progress"],
  ...Object.fromEntries(
    WORKSPACES.map((folder) => [`types of ${folder}`, types(folder, path.basename(folder))]),
  ),
};

interface Outcome {
  readonly hasPassed: boolean;
  readonly output: string;
}

function run([program = "", ...args]: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    child.once("error", (error) => resolve({ hasPassed: false, output: String(error) }));
    child.once("close", (code) => resolve({ hasPassed: code === 0, output }));
  });
}

const failed: string[] = [];
const remaining = Object.entries(CHECKS).values();

async function work(): Promise<void> {
  for (const [name, command] of remaining) {
    const startedAt = performance.now();
    const { hasPassed, output } = await run(command);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    console.log(`${hasPassed ? "passed" : "FAILED"}  ${String(seconds).padStart(3)} s  ${name}`);
    if (!hasPassed) failed.push(`\n== ${name}: ${command.join(" ")}\n${output.trim()}`);
  }
}

await Promise.all(Array.from({ length: availableParallelism() }, work));
// Some checkers color what they write to a pipe.
for (const output of failed) console.log(process.stdout.isTTY ? output : stripVTControlCharacters(output));
process.exitCode = failed.length > 0 ? 1 : 0;
