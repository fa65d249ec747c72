/** Prepares the globals before a program is evaluated: removes what could block the process or reach out of it. */
import { limitBuiltins } from "../builtins/index.ts";
import { asTurn, runHere, tick } from "../guard/guard.ts";
import { apply, defineProperty, getPrototypeOf, NativeTypeError } from "../guard/intrinsics.ts";

/** Globals that block, compile code, open connections, outlive a run, or are shared between runs. */
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

/** Replaces a global of the platform, wherever it is defined. */
export function install(name: string, value: unknown): void {
  remove(name);
  defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
}

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

/** Call before the program is evaluated. `report` receives errors that no caller can catch. */
export function prepareGlobals(report: (error: unknown) => void): void {
  limitBuiltins();
  for (const name of REMOVED) remove(name);
  // Otherwise the platform writes unhandled rejections of programs to the log of the service.
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
