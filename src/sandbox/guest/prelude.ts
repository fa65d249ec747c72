/** Makes the surroundings of a program before it is evaluated: takes away what could block the process or reach out of it. */

import { boundNatives } from "../builtins/index.ts";
import { asTurn, runHere, tick } from "../guard/guard.ts";
import { apply, defineProperty, getPrototypeOf, NativeTypeError } from "../guard/intrinsics.ts";

/** They wait without a pause, compile, open connections, run outside of any run, or are shared with others. */
const REMOVED = [
  ...["Atomics", "SharedArrayBuffer", "WebAssembly", "FinalizationRegistry"],
  ...["WebSocket", "WebSocketPair", "WebSocketRequestResponsePair", "EventSource", "navigator", "Navigator"],
  ...["MessageChannel", "MessagePort", "caches", "Cache", "CacheStorage", "Cloudflare", "scheduler"],
  ...["CompressionStream", "DecompressionStream", "HTMLRewriter", "reportError"],
];

function remove(name: string): void {
  for (let holder: object | null = globalThis; holder !== null; holder = getPrototypeOf(holder)) {
    if (Object.hasOwn(holder, name)) Reflect.deleteProperty(holder, name);
  }
}

/** Puts a global in the place of the platform's own, wherever that stands. */
export function install(name: string, value: unknown): void {
  remove(name);
  defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
}

/** Timers begin turns, and what they throw is for the run's log. */
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

/** Before anything of the program is evaluated; `report` takes what is thrown where nobody waits. */
export function furnish(report: (error: unknown) => void): void {
  boundNatives();
  for (const name of REMOVED) remove(name);
  // Otherwise the platform writes what programs reject with into the logs of whoever runs the service.
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    report(event.reason);
  });
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
