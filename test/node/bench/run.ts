/** `npm run dev -- bench NAME`: runs `test/node/bench/NAME.ts`, prints its Markdown and keeps its raw figures. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { CommandError, runCommand, UsageError } from "../../../src/cli/process/command.ts";

export interface BenchOptions {
  /** How long one run takes. */
  readonly seconds: number;
  /** How many runs a figure is the median of. */
  readonly runs: number;
  /** The parts to run; all of them when empty. */
  readonly parts: readonly string[];
  /** Room sizes, for benches that measure several. */
  readonly participants: readonly number[];
  readonly stop: AbortSignal;
  /** Reports on stderr the next step, and the time so far. */
  progress(what: string): void;
}

export interface BenchReport {
  readonly markdown: string;
  /** Every run's figures, for `--json`. */
  readonly raw: object;
}

/** The export `bench` of each bench file. */
export interface Bench {
  /** The names of the parts that can be run alone. */
  readonly parts: readonly string[];
  run(options: BenchOptions): Promise<BenchReport>;
}

const HERE = import.meta.dirname;
const NAMES = [
  "rest",
  "room",
  "files",
  "events",
  "workflows",
  "sdk",
  "fate",
  "documents",
  "fleet",
  "search",
  "access",
  "inbox",
  "move",
  "pages",
  "board",
  "cold",
  "streams",
];
const USAGE =
  "Usage: npm run dev -- bench NAME [PART ...] [--seconds 3] [--runs 3] [--participants 50,100,200,300] [--json FILE]; " +
  `names: ${NAMES.join(", ")}`;
/** Longest run: silent participants would have to send heartbeats in a longer one. */
const MAX_SECONDS = 20;
/** A limit for a bench that hangs. */
const LIMIT_MS = 15 * 60 * 1000;

await runCommand(
  async (interrupt) => {
    const { name, json, ...chosen } = readArguments();
    const stop = AbortSignal.any([interrupt, AbortSignal.timeout(LIMIT_MS)]);
    await installPeers(stop);
    const { bench } = (await import(path.join(HERE, `${name}.ts`))) as { readonly bench: Bench };
    const unknown = chosen.parts.find((part) => !bench.parts.includes(part));
    if (unknown !== undefined)
      throw new UsageError(`${name} has no part ${unknown}; it has: ${bench.parts.join(", ") || "none"}`);
    const startedAt = performance.now();
    const progress = (what: string) =>
      console.error(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${what}`);
    const { markdown, raw } = await bench.run({ ...chosen, stop, progress });
    console.log(markdown);
    if (json !== undefined) await writeFile(json, `${JSON.stringify(raw, null, 2)}\n`);
  },
  { help: USAGE, interruptedExitCode: 130 },
);

function readArguments() {
  const { values, positionals } = parse();
  const [name, ...parts] = positionals;
  const seconds = Number(values.seconds);
  const runs = Number(values.runs);
  const participants = values.participants.split(",").map(Number);
  const isFine = [runs, ...participants].every((value) => Number.isInteger(value) && value > 0);
  if (name === undefined || !NAMES.includes(name)) throw new UsageError(USAGE);
  if (!isFine || !(seconds > 0) || seconds > MAX_SECONDS) throw new UsageError(USAGE);
  return { name, parts, seconds, runs, participants, json: values.json };
}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        seconds: { type: "string", default: "3" },
        runs: { type: "string", default: "3" },
        participants: { type: "string", default: "50,100,200,300" },
        json: { type: "string" },
      },
    });
  } catch {
    throw new UsageError(USAGE);
  }
}

/** Load generators and peers are installed on first use, so that a user's install stays small. */
async function installPeers(stop: AbortSignal): Promise<void> {
  if (arePeersInstalled()) return;
  console.error("Installing the benchmarks' own packages into test/node/bench/node_modules ...");
  const npm = spawn("npm", ["ci", "--prefix", HERE, "--no-audit", "--no-fund"], {
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
    signal: stop,
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    npm.once("error", reject).once("close", resolve);
  });
  if (exitCode !== 0) throw new CommandError("npm ci of test/node/bench failed");
}

/** An earlier checkout may have installed fewer packages, or other versions. */
function arePeersInstalled(): boolean {
  const { dependencies } = readJson<{ dependencies: Record<string, string> }>("package.json");
  try {
    const { packages } = readJson<{ packages: Record<string, { version: string }> }>(
      "node_modules/.package-lock.json",
    );
    return Object.entries(dependencies).every(
      ([name, version]) => packages[`node_modules/${name}`]?.version === version,
    );
  } catch {
    return false;
  }
}

function readJson<Content>(file: string): Content {
  return JSON.parse(readFileSync(path.join(HERE, file), "utf8")) as Content;
}
