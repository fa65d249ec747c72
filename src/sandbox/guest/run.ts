/**
 * The run that code belongs to, through all its awaits, and its end. The process or the platform bounds its
 * resources.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { RunLimits } from "../runners/runner.ts";
import { NativeError } from "./intrinsics.ts";

export interface Run {
  readonly limits: RunLimits;
  stop: string | null;
  /** Called when the run is stopped, because the program's own promise might never settle. */
  onStop: () => void;
}

const runs = new AsyncLocalStorage<Run>();

/** Whether a run of this isolate was stopped. */
let hasStopped = false;

export function startRun<T>(limits: RunLimits, work: (run: Run) => T): T {
  const run: Run = { limits, stop: null, onStop: () => {} };
  return runs.run(run, work, run);
}

/** The run that this code belongs to; undefined outside of runs. */
export const runHere: () => Run | undefined = runs.getStore.bind(runs);

/** Stops the run. The first reason is kept. */
export function stopRun(run: Run, why: string): Error {
  if (run.stop === null) {
    run.stop = why;
    hasStopped = true;
    run.onStop();
  }
  return new NativeError(run.stop);
}

/** A finished run is not reported as stopped, but makes no further calls. */
export function finishRun(run: Run): void {
  run.stop ??= "The run is over";
}

/** Whether the isolate should be replaced, with the changes of a stopped run to its globals. */
export const isIsolateSpent = (): boolean => hasStopped;
