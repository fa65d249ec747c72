/** The timers and microtasks of a program: each callback belongs to its run. */
import { asTurn, runHere, tick } from "../guard/guard.ts";
import { apply, NativeTypeError } from "../guard/intrinsics.ts";
import { install } from "./globals.ts";

/** A timer's callback begins a turn, and the run logs its errors. */
function timer(native: (callback: () => void, delay?: number) => unknown, report: (error: unknown) => void) {
  return (callback: unknown, delay?: number, ...args: unknown[]): unknown => {
    tick();
    const run = runHere();
    if (typeof callback !== "function" || run === undefined)
      throw new NativeTypeError("A timer needs a function");
    const call = asTurn(run, () => {
      try {
        apply(callback, undefined, args);
      } catch (error) {
        report(error);
      }
    });
    return native(call, delay);
  };
}

/** Replaces the platform's. `report` receives the errors of callbacks. */
export function installTimers(report: (error: unknown) => void): void {
  const { setTimeout, setInterval, queueMicrotask } = globalThis;
  install("setTimeout", timer(setTimeout, report));
  install("setInterval", timer(setInterval, report));
  install("queueMicrotask", (callback: () => void) => {
    tick();
    queueMicrotask(() => {
      tick();
      callback();
    });
  });
}
