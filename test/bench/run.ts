/** `npm run bench -- NAME`: runs `test/bench/NAME.ts`, prints its Markdown and keeps its raw figures. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { CommandError, runCommand, UsageError } from "../../src/cli/command.ts";

export interface BenchOptions {
  /** How long one run of one figure takes. */
  readonly seconds: number;
  /** A figure is the median of so many runs. */
  readonly runs: number;
  readonly stop: AbortSignal;
}

export interface BenchReport {
  readonly markdown: string;
  /** Every run's figures, for `--json`. */
  readonly raw: object;
}

/** What a file of a bench exports as `bench`. */
export type Bench = (options: BenchOptions) => Promise<BenchReport>;

const HERE = import.meta.dirname;
const USAGE = "Usage: npm run bench -- NAME [--seconds 3] [--runs 3] [--json FILE]; names: rest";
/** No bench may take longer than this, whatever hangs. */
const LIMIT_MS = 15 * 60 * 1000;

await runCommand(
  async (interrupt) => {
    const { name, seconds, runs, json } = readArguments();
    const stop = AbortSignal.any([interrupt, AbortSignal.timeout(LIMIT_MS)]);
    await installPeers(stop);
    const { bench } = (await import(path.join(HERE, `${name}.ts`))) as { readonly bench: Bench };
    const { markdown, raw } = await bench({ seconds, runs, stop });
    console.log(markdown);
    if (json !== undefined) await writeFile(json, `${JSON.stringify(raw, null, 2)}\n`);
  },
  { interruptedExitCode: 130 },
);

function readArguments() {
  const { values, positionals } = parse();
  const [name] = positionals;
  const seconds = Number(values.seconds);
  const runs = Number(values.runs);
  if (!(seconds > 0) || !(Number.isInteger(runs) && runs > 0)) throw new UsageError(USAGE);
  if (positionals.length !== 1 || name === undefined || !isBench(name)) throw new UsageError(USAGE);
  return { name, seconds, runs, json: values.json };
}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        seconds: { type: "string", default: "3" },
        runs: { type: "string", default: "3" },
        json: { type: "string" },
      },
    });
  } catch {
    throw new UsageError(USAGE);
  }
}

function isBench(name: string): boolean {
  const isShared = ["run", "serve", "load", "table"].includes(name);
  return /^[a-z]+$/.test(name) && !isShared && existsSync(path.join(HERE, `${name}.ts`));
}

/** Load generators and peers are installed on first use, so that a user's install stays small. */
async function installPeers(stop: AbortSignal): Promise<void> {
  if (existsSync(path.join(HERE, "node_modules/.package-lock.json"))) return;
  console.error("Installing the benchmarks' own packages into test/bench/node_modules ...");
  const npm = spawn("npm", ["ci", "--prefix", HERE, "--no-audit", "--no-fund"], {
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
    signal: stop,
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    npm.once("error", reject).once("close", resolve);
  });
  if (exitCode !== 0) throw new CommandError("npm ci of test/bench failed");
}
