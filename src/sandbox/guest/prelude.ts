/** Prepares the globals before a program is evaluated: removes every way out of the isolate. */
import { apply, defineProperty, getPrototypeOf, NativeTypeError } from "./intrinsics.ts";

/** Globals that block, compile code, open connections, outlive a run, or are shared between runs. */
const REMOVED = [
  ...["Atomics", "SharedArrayBuffer", "WebAssembly", "FinalizationRegistry"],
  ...["WebSocket", "WebSocketPair", "WebSocketRequestResponsePair", "EventSource", "navigator", "Navigator"],
  ...["MessageChannel", "MessagePort", "caches", "Cache", "CacheStorage", "Cloudflare", "scheduler"],
  ...["CompressionStream", "DecompressionStream", "HTMLRewriter", "reportError"],
];

/** Reports an error that no caller can catch, until the returned function is called. */
type Report = (error: unknown) => () => void;

/** Call before the program is evaluated. */
export function prepareGlobals(report: Report): void {
  for (const name of REMOVED) remove(name);
  // Otherwise the platform writes unhandled rejections of programs to the log of the service.
  const reported = new WeakMap<Promise<unknown>, () => void>();
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    reported.set(event.promise, report(event.reason));
  });
  addEventListener("rejectionhandled", (event) => reported.get(event.promise)?.());
  installTimers(report);
}

/** The timers of a program: errors of their callbacks belong to the log of its run. */
function timer(native: (callback: () => void, delay?: number) => unknown, report: Report) {
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

function installTimers(report: Report): void {
  const { setTimeout, setInterval } = globalThis;
  install("setTimeout", timer(setTimeout, report));
  install("setInterval", timer(setInterval, report));
}

/** Removes a global of the platform, wherever it is defined. */
function remove(name: string): void {
  for (let holder: object | null = globalThis; holder !== null; holder = getPrototypeOf(holder)) {
    if (Object.hasOwn(holder, name)) Reflect.deleteProperty(holder, name);
  }
}

export function install(name: string, value: unknown): void {
  remove(name);
  defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
}
