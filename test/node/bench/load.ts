/** Sends requests as fast as the server answers, from a separate process, and returns the median of several runs. */
import { spawn } from "node:child_process";
import path from "node:path";
import { CommandError } from "../../../src/cli/process/command.ts";
import { processorSeconds } from "./gauge.ts";
import type { BenchOptions } from "./run.ts";

const AUTOCANNON = path.join(import.meta.dirname, "node_modules/autocannon/autocannon.js");
const CONNECTIONS = 32;
const WARM_UP_SECONDS = 2;
/** The time allowed for starting, connecting and reporting, beyond the run itself. */
const GRACE_MS = 20_000;

/** A request that is sent repeatedly. */
export interface Target {
  readonly name: string;
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Any other status fails the bench: errors are fast. */
  readonly status: number;
}

export interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /**
   * Processor time of the server per request, in microseconds; 0 if unknown. Other work on the machine hardly
   * changes it.
   */
  readonly processorUs: number;
}

/** A target's median over its runs, and each run. */
export interface Measurement extends Figures {
  readonly name: string;
  readonly runs: readonly Figures[];
}

/** The fields of autocannon's JSON output that are used here. */
interface AutocannonResult {
  readonly requests: { readonly average: number; readonly total: number };
  readonly latency: { readonly p50: number; readonly p99: number };
  readonly errors: number;
  readonly timeouts: number;
  readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>;
}

/** Measures targets in turns (ABAB), so that a machine that slows down or speeds up does so to all of them. */
export async function measure(
  targets: readonly Target[],
  options: BenchOptions,
  serverPid = 0,
): Promise<Measurement[]> {
  const figures = targets.map((): Figures[] => []);
  options.progress(`Measuring ${targets.map(({ name }) => name).join(" and ")}`);
  for (const target of targets) await load(target, WARM_UP_SECONDS, options.stop);
  for (let run = 0; run < options.runs; run += 1) {
    for (const [index, target] of targets.entries()) {
      figures[index]?.push(await load(target, options.seconds, options.stop, serverPid));
    }
  }
  return targets.map(({ name }, index) => summarize(name, figures[index] ?? []));
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.floor(middle - 0.5)] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
};

const summarize = (name: string, runs: readonly Figures[]): Measurement => ({
  name,
  perSecond: median(runs.map((run) => run.perSecond)),
  p50Ms: median(runs.map((run) => run.p50Ms)),
  p99Ms: median(runs.map((run) => run.p99Ms)),
  processorUs: median(runs.map((run) => run.processorUs)),
  runs,
});

async function load(target: Target, seconds: number, stop: AbortSignal, serverPid = 0): Promise<Figures> {
  stop.throwIfAborted();
  const headers = Object.entries(target.headers ?? {}).flatMap(([name, value]) => ["-H", `${name}=${value}`]);
  const body = target.body === undefined ? [] : ["-b", target.body];
  const args = [
    "-j",
    "-n",
    "-c",
    `${CONNECTIONS}`,
    "-d",
    `${seconds}`,
    "-m",
    target.method,
    ...headers,
    ...body,
  ];
  const before = processorSeconds(serverPid) ?? 0;
  const result = await runAutocannon([...args, target.url], seconds * 1000 + GRACE_MS, stop);
  const statuses = Object.entries(result.statusCodeStats).map(
    ([status, { count }]) => `${count} x ${status}`,
  );
  const { [target.status]: _, ...others } = result.statusCodeStats;
  if (Object.keys(others).length > 0 || result.errors > 0 || result.timeouts > 0 || statuses.length === 0) {
    const answers = statuses.join(", ") || "nothing";
    throw new CommandError(
      `${target.name} answered ${answers}; ${result.errors} errors; wanted ${target.status} only`,
    );
  }
  const { requests, latency } = result;
  const processorUs = (((processorSeconds(serverPid) ?? 0) - before) * 1e6) / requests.total;
  return { perSecond: requests.average, p50Ms: latency.p50, p99Ms: latency.p99, processorUs };
}

async function runAutocannon(
  args: readonly string[],
  limitMs: number,
  stop: AbortSignal,
): Promise<AutocannonResult> {
  const child = spawn(process.execPath, [AUTOCANNON, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    signal: AbortSignal.any([stop, AbortSignal.timeout(limitMs)]),
  });
  let output = "";
  let complaints = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints += text;
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject).once("close", resolve);
  });
  if (exitCode !== 0) throw new CommandError(`autocannon failed: ${complaints.trim()}`);
  return JSON.parse(output) as AutocannonResult;
}
