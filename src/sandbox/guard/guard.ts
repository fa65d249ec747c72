/** Limits a program from inside: its loops, functions and large allocations report here, and the run is stopped at a limit. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { RunLimits } from "../runners/runner.ts";
import { apply, isArray, max, NativeError, NativeRangeError, now, setTimeout } from "./intrinsics.ts";

/** One run, as the guard sees it. */
export interface Run {
  readonly limits: RunLimits;
  readonly startedAt: number;
  /** When the current turn (running without an await) began; null between turns. */
  turnStartedAt: number | null;
  /** Counts turns, so that a timer of an earlier turn cannot end a later one. */
  turn: number;
  /** When the run last reported. */
  seenAt: number;
  /** The time spent in finished turns. */
  ranMs: number;
  /** Reports during the evaluation of the module, where the clock stands still. */
  startTicks: number;
  allocatedBytes: number;
  /** Why the run was stopped; null while it may continue. */
  stop: string | null;
  /** Called when the run is stopped, because the program's own promise might never settle. */
  onStop: () => void;
}

/** How often the clock is read: at every tick where much work happens between two ticks. */
const TICKS_PER_LOOK = 16;
/** The limit for code outside of functions, where there is no clock: about a tenth of a second of empty loops. */
const MAX_START_TICKS = 5_000_000;
/** The limit for all turns of a run together, as a multiple of the limit for one. */
const MAX_TURNS_RUN = 2;
/** How much may be allocated over time, as a multiple of the memory limit: the guard cannot see what was collected. */
const ALLOCATION_FACTOR = 2;
/** The largest shift or exponent of a BigInt. */
const MAX_EXPONENT = 4096n;
const MEBIBYTE = 1024 * 1024;

const runs = new AsyncLocalStorage<Run>();
const currentRun: () => Run | undefined = runs.getStore.bind(runs);

/** Ticks left until the clock is read. */
let credit = 0;
/** Whether a run in progress was stopped: then every tick checks, so that no `catch` block continues. */
let isStopping = false;
let runsInProgress = 0;
let hasRun = false;
let hasStopped = false;
/** Work of all runs so far: what they may have left in the globals grows with it. */
let ranMs = 0;
let allocatedBytes = 0;

export function startRun<T>(limits: RunLimits, work: (run: Run) => T): T {
  const startedAt = now();
  const run: Run = {
    limits,
    startedAt,
    turnStartedAt: null,
    turn: 0,
    seenAt: startedAt,
    ranMs: 0,
    startTicks: 0,
    allocatedBytes: 0,
    stop: null,
    onStop: () => {},
  };
  hasRun = true;
  runsInProgress += 1;
  return runs.run(run, work, run);
}

/** The run that this code belongs to; undefined in code that outlives its run. */
export const runHere = currentRun;

/** Stops the run. The first reason is kept. */
export function stopRun(run: Run, why: string): Error {
  if (run.stop === null) {
    run.stop = why;
    hasStopped = true;
    isStopping = true;
    credit = 0;
    run.onStop();
  }
  return new NativeError(run.stop);
}

/** A finished run is not reported as stopped, but none of its code continues. */
export function finishRun(run: Run): void {
  endTurn(run);
  run.stop ??= "The run is over";
  runsInProgress -= 1;
  if (runsInProgress === 0) isStopping = false;
}

/** Whether the runs of this isolate did so much work that it should be replaced, together with what they left in its globals. */
export const isIsolateSpent = ({ limits }: Run): boolean =>
  hasStopped || ranMs > MAX_TURNS_RUN * limits.turnMs || allocatedBytes > limits.memoryMb * MEBIBYTE;

/** Inserted at the beginning of every loop body and every function body. */
export function tick(): void {
  if (--credit < 0) look();
}

/** Inserted around values that the language walks by itself (spreads, `for … in`), and around exponents. */
export function spread<T>(operand: T): T {
  tick();
  if (typeof operand === "bigint" && operand > MAX_EXPONENT) {
    throw new NativeRangeError("The BigInt is too long for a workflow");
  }
  if (isArray(operand)) allocate(8 * operand.length);
  else if (typeof operand === "string") allocate(16 * operand.length);
  return operand;
}

/** Counts memory that is about to be allocated at once. */
export function allocate(bytes: number): void {
  const run = currentRun();
  if (run === undefined || !(bytes > 0)) return;
  run.allocatedBytes += bytes;
  allocatedBytes += bytes;
  if (run.allocatedBytes > ALLOCATION_FACTOR * run.limits.memoryMb * MEBIBYTE) {
    throw stopRun(run, `The workflow used more than ${run.limits.memoryMb} MB of memory`);
  }
  work(bytes / 64);
}

/** Counts work that happens without a tick, in ticks. */
export function work(ticks: number): void {
  credit -= max(0, ticks);
  tick();
}

/** Begins another turn: the run has awaited something, or its caller has. */
export function endTurn(run: Run): void {
  if (run.turnStartedAt === null) return;
  const turnMs = run.seenAt - run.turnStartedAt;
  run.ranMs += turnMs;
  ranMs += turnMs;
  run.turnStartedAt = null;
  run.turn += 1;
}

/** Stops the run at a limit. An error in here, such as a full stack, leaves no unused ticks behind. */
function look(): void {
  const ticks = TICKS_PER_LOOK - credit;
  credit = 0;
  const run = currentRun();
  if (run === undefined) {
    lookOutside();
    return;
  }
  if (run.stop !== null) throw new NativeError(run.stop);
  const time = now();
  if (time < run.startedAt) countStart(run, ticks);
  else if (run.turnStartedAt === null) beginTurn(run, time);
  else measure(run, run.turnStartedAt, time);
  const hasPaused = time - run.seenAt > 1;
  run.seenAt = max(time, run.startedAt);
  credit = isStopping || hasPaused ? 0 : TICKS_PER_LOOK;
}

/** Code outside of a run is ours until the first run; later, a program has left it behind. */
function lookOutside(): void {
  if (hasRun) throw new NativeError("Code cannot continue after its run has ended");
  credit = TICKS_PER_LOOK;
}

function countStart(run: Run, ticks: number): void {
  run.startTicks += ticks;
  if (run.startTicks > MAX_START_TICKS) {
    throw stopRun(run, "The workflow did too much outside of its functions: do it in the function instead");
  }
}

function beginTurn(run: Run, time: number): void {
  run.turnStartedAt = time;
  const { turn } = run;
  setTimeout(() => {
    if (run.turn === turn) endTurn(run);
  }, 0);
}

function measure(run: Run, turnStartedAt: number, time: number): void {
  const { turnMs, wallMs } = run.limits;
  const ran = time - turnStartedAt;
  if (ran > turnMs) {
    throw stopRun(run, `The workflow ran for more than ${turnMs} ms without a pause`);
  }
  if (run.ranMs + ran > MAX_TURNS_RUN * turnMs) {
    throw stopRun(run, `The workflow used more than ${MAX_TURNS_RUN * turnMs} ms of processor time`);
  }
  if (time - run.startedAt > wallMs) throw stopRun(run, `The workflow took longer than ${wallMs / 1000} s`);
}

/** Wraps a function that the platform calls later: it gets a turn of its own, in the run that passed it. */
export const asTurn =
  (run: Run, work: (...args: unknown[]) => unknown) =>
  (...args: unknown[]): unknown => {
    endTurn(run);
    tick();
    return apply(work, undefined, args);
  };
