/** Plants known bugs of security in a copy of the repository, one at a time, and counts those that tests notice. */
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs, promisify } from "node:util";
import { bundleServedFiles } from "../../../src/cli/bundle/served-files.ts";
import { CommandError, runCommand, UsageError } from "../../../src/cli/process/command.ts";
import { ROOT } from "../../../src/cli/process/supervisor.ts";
import { findPlace, type Mutant, plantIn } from "./mutant.ts";
import { MUTANTS } from "./mutants.ts";

const USAGE = "Usage: npm run dev -- mutants [--only TEXT] [--jobs N] [--unchecked] [--fit]";
/** The share of mutants that must be noticed. */
const GOAL = 0.95;
/** Limit beyond which the tests hang. */
const LIMIT_MS = 10 * 60_000;

/**
 * `noticed`: a test failed. `hung`: the tests did not end. `survived`: all passed. `broken`: no test could run, which
 * says nothing.
 */
type Verdict = "noticed" | "hung" | "survived" | "broken";

/** Tests that hang notice a bug, too; on a busy machine, judge those alone again. */
const isNoticed = (verdict: Verdict): boolean => verdict === "noticed" || verdict === "hung";

await runCommand(
  async (stop) => {
    const { only = "", jobs = "1", unchecked = false, fit = false } = readArguments();
    const mutants = MUTANTS.filter(({ bug, file }) => `${bug} ${file}`.includes(only));
    if (mutants.length === 0) throw new UsageError(`No mutant contains "${only}". ${USAGE}`);
    if (!/^[1-9]\d?$/.test(jobs)) throw new UsageError(`--jobs must be from 1 to 99. ${USAGE}`);
    if (fit) return requireFit(mutants);
    await bundleServedFiles();
    const copies = await Promise.all(Array.from({ length: Number(jobs) }, copyRepository));
    try {
      const [first] = copies;
      if (first !== undefined && !unchecked) await requireHealthy(first, mutants, stop);
      report(mutants.length, await judgeAll(copies, mutants, stop));
    } finally {
      for (const copy of copies) await rm(copy, { recursive: true, force: true });
    }
  },
  { help: USAGE, interruptedExitCode: 130 },
);

function readArguments() {
  try {
    return parseArgs({
      options: {
        only: { type: "string" },
        jobs: { type: "string" },
        unchecked: { type: "boolean" },
        fit: { type: "boolean" },
      },
    }).values;
  } catch {
    throw new UsageError(USAGE);
  }
}

/** Prints the mutants whose code is gone, ambiguous or moved, and those whose tests are gone. Throws unless all can be planted. */
function requireFit(mutants: readonly Mutant[]): void {
  const problems = mutants.flatMap((mutant) => {
    const lost = mutant.tests.filter((test) => !existsSync(path.join(ROOT, test)));
    const missing = lost.map(
      (test) => `${mutant.file}: "${mutant.bug}" names the test ${test}, which is gone`,
    );
    try {
      const { file } = findPlace(ROOT, mutant);
      if (file !== mutant.file) console.log(`${mutant.file}: "${mutant.bug}" is in ${file} now`);
      return missing;
    } catch (error) {
      return [...missing, String(error)];
    }
  });
  const bugs = mutants.map(({ bug }) => bug);
  problems.push(...bugs.filter((bug, index) => bugs.indexOf(bug) !== index).map((bug) => `Twice: ${bug}`));
  for (const problem of problems) console.log(problem);
  if (problems.length > 0)
    throw new CommandError(`${problems.length} problems in ${mutants.length} planted bugs`);
  console.log(`${mutants.length} planted bugs fit the source`);
}

function report(total: number, survivors: readonly Mutant[]): void {
  const noticed = total - survivors.length;
  for (const { bug, file, tests } of survivors)
    console.log(`Not noticed by ${tests.join(", ")}: ${file}: ${bug}`);
  console.log(`${noticed} of ${total} planted bugs were noticed (${Math.floor((100 * noticed) / total)} %)`);
  if (noticed / total < GOAL) throw new CommandError(`The goal is ${100 * GOAL} %`);
}

/** Whether a file comes from bundling, and not from the state of a service that runs here. */
function isBundle(source: string): boolean {
  return !path.relative(ROOT, source).startsWith(".wrangler/state");
}

/** A copy of the files that git knows, as they are now; packages are shared, but for those of the repository. */
async function copyRepository(): Promise<string> {
  const copy = await mkdtemp(path.join(tmpdir(), "atrium-mutants-"));
  const script =
    'git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -xf - -C "$1"';
  await promisify(execFile)("sh", ["-c", script, "sh", copy], { cwd: ROOT });
  const [packages, own] = [path.join(ROOT, "node_modules"), "@atrium"];
  await mkdir(path.join(copy, "node_modules"));
  for (const name of await readdir(packages)) {
    const from = path.join(packages, name);
    if (name === own)
      await cp(from, path.join(copy, "node_modules", own), { recursive: true, verbatimSymlinks: true });
    else await symlink(from, path.join(copy, "node_modules", name));
  }
  await cp(path.join(ROOT, ".wrangler"), path.join(copy, ".wrangler"), { recursive: true, filter: isBundle });
  return copy;
}

/** Runs all tests without any bug: if they failed, a later failure would say nothing. */
async function requireHealthy(copy: string, mutants: readonly Mutant[], stop: AbortSignal): Promise<void> {
  const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))];
  console.log(`Running ${tests.length} test files without any planted bug first`);
  if ((await runTests(copy, tests, stop)) !== "survived")
    throw new CommandError("Tests fail without any planted bug: run them by `npm test` to see why");
}

/** Judges one mutant at a time in each copy. Returns those that were not noticed. */
async function judgeAll(
  copies: readonly string[],
  mutants: readonly Mutant[],
  stop: AbortSignal,
): Promise<Mutant[]> {
  const survivors: Mutant[] = [];
  const remaining = mutants.values();
  let judged = 0;
  const work = async (copy: string): Promise<void> => {
    for (const mutant of remaining) {
      const verdict = await judge(copy, mutant, stop);
      judged += 1;
      console.log(`${judged}/${mutants.length} ${verdict.padEnd(8)} ${mutant.file}: ${mutant.bug}`);
      if (!isNoticed(verdict)) survivors.push(mutant);
    }
  };
  await Promise.all(copies.map(work));
  return survivors;
}

async function judge(copy: string, mutant: Mutant, stop: AbortSignal): Promise<Verdict> {
  const takeOut = await plantIn(copy, mutant);
  try {
    return await runTests(copy, mutant.tests, stop);
  } finally {
    await takeOut();
  }
}

async function runTests(copy: string, tests: readonly string[], stop: AbortSignal): Promise<Verdict> {
  stop.throwIfAborted();
  const output = path.join(copy, "report.json");
  await rm(output, { force: true });
  const vitest = path.join(ROOT, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", "--config", "test/vitest.config.ts", "--bail", "1", ...tests];
  const child = spawn(process.execPath, [...args, "--reporter=json", `--outputFile=${output}`], {
    cwd: copy,
    stdio: "ignore",
    env: { ...process.env, TEST_BUNDLES: "kept" },
    signal: AbortSignal.any([stop, AbortSignal.timeout(LIMIT_MS)]),
    killSignal: "SIGTERM",
  });
  const hasTimedOut = await new Promise<boolean>((resolve) => {
    child.once("error", () => resolve(true)).once("close", () => resolve(false));
  });
  stop.throwIfAborted();
  if (hasTimedOut) return "hung";
  return readVerdict(output);
}

async function readVerdict(output: string): Promise<Verdict> {
  try {
    const report = JSON.parse(await readFile(output, "utf8")) as {
      readonly success: boolean;
      readonly numFailedTests: number;
      readonly numPassedTests: number;
    };
    if (report.numFailedTests > 0) return "noticed";
    if (report.numPassedTests === 0) return "broken";
    // An error that no test caught, such as an undeclared log line, fails the run too.
    return report.success ? "survived" : "noticed";
  } catch {
    return "broken";
  }
}
