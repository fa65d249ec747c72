/** The timers of a program: errors of their callbacks belong to the log of its run. */
import { install } from "./globals.ts";
import { apply, NativeTypeError } from "./intrinsics.ts";

function timer(native: (callback: () => void, delay?: number) => unknown, report: (error: unknown) => void) {
  return (callback: unknown, delay?: number, ...args: unknown[]): unknown => {
    if (typeof callback !== "function") throw new NativeTypeError("A timer needs a function");
    return native(() => {
      try {
        apply(callback, undefined, args);
      } catch (error) {
        report(error);
      }
    }, delay);
  };
}

/** Replaces the platform's. `report` receives the errors of callbacks. */
export function installTimers(report: (error: unknown) => void): void {
  const { setTimeout, setInterval } = globalThis;
  install("setTimeout", timer(setTimeout, report));
  install("setInterval", timer(setInterval, report));
}
