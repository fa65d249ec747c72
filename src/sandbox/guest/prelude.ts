/** Prepares the globals before a program is evaluated: removes what could reach out of the isolate. */
import { remove } from "./globals.ts";
import { installTimers } from "./timers.ts";

/** Globals that block, compile code, open connections, outlive a run, or are shared between runs. */
const REMOVED = [
  ...["Atomics", "SharedArrayBuffer", "WebAssembly", "FinalizationRegistry"],
  ...["WebSocket", "WebSocketPair", "WebSocketRequestResponsePair", "EventSource", "navigator", "Navigator"],
  ...["MessageChannel", "MessagePort", "caches", "Cache", "CacheStorage", "Cloudflare", "scheduler"],
  ...["CompressionStream", "DecompressionStream", "HTMLRewriter", "reportError"],
];

/** Call before the program is evaluated. `report` receives errors that no caller can catch. */
export function prepareGlobals(report: (error: unknown) => void): void {
  for (const name of REMOVED) remove(name);
  // Otherwise the platform writes unhandled rejections of programs to the log of the service.
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    report(event.reason);
  });
  installTimers(report);
}
