/** What bounds a program from inside: its loops, functions and large allocations report here, and are refused when it is enough. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { RunLimits } from "../runners/runner.ts";
import { apply, isArray, max, NativeError, NativeRangeError, now, setTimeout } from "./intrinsics.ts";

/** One run, as the guard sees it. */
export interface Run {
  readonly limits: RunLimits;
  readonly startedAt: number;
  /** When its running without a pause began; null while it pauses. */
  turnStartedAt: number | null;
  /** Counts turns, so that a timer of an earlier one ends no later one. */
  turn: number;
  /** When it was last seen running. */
  seenAt: number;
  /** In the turns that are over. */
  ranMs: number;
  /** Reports while the module itself is evaluated, where the clock stands still. */
  startTicks: number;
  allocatedBytes: number;
  /** Why it must not go on, once that is so. */
  stop: string | null;
  /** Called when the run is stopped: the program itself might never settle. */
  onStop: () => void;
}

/** The clock is asked this often: at each tick where much happens between two of them. */
const TICKS_PER_LOOK = 16;
/** What the code outside of functions may do, for want of a clock: some tenth of a second of bare loops. */
const MAX_START_TICKS = 5_000_000;
/** Of all turns of a run together, in turns. */
const MAX_TURNS_RUN = 2;
/** So much may be allocated over time, as a multiple of what may be held: collected memory is not known of. */
const ALLOCATION_FACTOR = 2;
/** What a BigInt may be shifted or raised by. */
const MAX_EXPONENT = 4096n;
const MEBIBYTE = 1024 * 1024;

const runs = new AsyncLocalStorage<Run>();
const currentRun: () => Run | undefined = runs.getStore.bind(runs);

/** Ticks that are left until the clock is asked. */
let credit = 0;
/** Whether one of the runs in progress was stopped: each tick looks then, so that no `catch` goes on. */
let isStopping = false;
let runsInProgress = 0;
let hasRun = false;
let hasStopped = false;
/** Of all runs so far: what they may have left behind grows with it. */
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

/** The run that is in progress here; none in what outlives all runs. */
export const runHere = currentRun;

/** Lets nothing of the run go on. The first reason is the one that holds. */
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

/** A run that is over is not stopped, but nothing of it goes on. */
export function finishRun(run: Run): void {
  endTurn(run);
  run.stop ??= "The run is over";
  runsInProgress -= 1;
  if (runsInProgress === 0) isStopping = false;
}

/** Whether this isolate's runs have done so much that it should be left behind, with what they keep in its globals. */
export const isIsolateSpent = ({ limits }: Run): boolean =>
  hasStopped || ranMs > MAX_TURNS_RUN * limits.turnMs || allocatedBytes > limits.memoryMb * MEBIBYTE;

/** First in every loop's body and every function's. */
export function tick(): void {
  if (--credit < 0) look();
}

/** Around what is taken apart without the program's help: by spreads and `for … in`; and around exponents. */
export function spread<T>(operand: T): T {
  tick();
  if (typeof operand === "bigint" && operand > MAX_EXPONENT) {
    throw new NativeRangeError("The BigInt is too long for a workflow");
  }
  if (isArray(operand)) allocate(8 * operand.length);
  else if (typeof operand === "string") allocate(16 * operand.length);
  return operand;
}

/** Counts what is about to be allocated in one go. */
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

/** Counts work that is done without a tick, in ticks. */
export function work(ticks: number): void {
  credit -= max(0, ticks);
  tick();
}

/** The run waits, or has been called by who waited for it: what follows is another turn. */
export function endTurn(run: Run): void {
  if (run.turnStartedAt === null) return;
  const turnMs = run.seenAt - run.turnStartedAt;
  run.ranMs += turnMs;
  ranMs += turnMs;
  run.turnStartedAt = null;
  run.turn += 1;
}

/** Refuses to go on when it is enough. An error on the way, such as a full stack, leaves no credit behind. */
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

/** What is not of a run is ours as long as nothing has run; later it is what a program has left behind. */
function lookOutside(): void {
  if (hasRun) throw new NativeError("Nothing runs outside of a run");
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

/** A function that the platform calls after a wait: a turn of its own, in the run that asked for it. */
export const asTurn =
  (run: Run, work: (...args: unknown[]) => unknown) =>
  (...args: unknown[]): unknown => {
    endTurn(run);
    tick();
    return apply(work, undefined, args);
  };
