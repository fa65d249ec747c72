/** `wrangler dev` as a quiet child: when it is ready, when it has ended, and what of its output is shown. */
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { createLineFilter } from "./dev-output.ts";
import { spawnWrangler } from "./wrangler.ts";

export interface DevServer {
  /** Settles when the service listens. */
  readonly ready: Promise<void>;
  /** Its exit code, once all of it is gone. */
  readonly ended: Promise<number | null>;
  /** Of the process group that it and all that it starts are in. */
  readonly groupId: number;
}

export interface DevServerOptions {
  readonly port: number;
  readonly persistTo: string;
  /** The organization that /demo belongs to. */
  readonly demoAccountId: string;
}

/**
 * Makes V8 turn to an engine that takes linear time when a regular expression of a customer's program goes back
 * over and over: nothing else could end it. Those with back references or lookaround keep the old one.
 */
const RUNTIME = {
  MINIFLARE_WORKERD_V8_FLAGS: "--enable-experimental-regexp-engine-on-excessive-backtracks",
};

/** Starts the service; whoever runs the same `wrangler dev` by hand gets the same service on the same data. */
export function startDevServer(options: DevServerOptions, stop: AbortSignal): DevServer {
  const { port, persistTo, demoAccountId } = options;
  const flags = {
    port: String(port),
    "persist-to": persistTo,
    var: `DEMO_ACCOUNT_ID:${demoAccountId}`,
    "show-interactive-dev-session": "false",
  };
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const { child, ended } = spawnWrangler(["dev", ...args], stop, RUNTIME);
  let isReady = false;
  /** The banner and the table of bindings, which only matter when the start fails. */
  const held: string[] = [];
  show(child.stdout, (line) => (isReady ? console.log(line) : held.push(line)));
  show(child.stderr, (line) => console.error(line));

  // Wrangler tells whoever started it with an IPC channel when it listens, so nobody has to ask over and over.
  const ready = new Promise<void>((resolve) => {
    child.on("message", (message) => {
      if (!String(message).includes("DEV_SERVER_READY")) return;
      isReady = true;
      resolve();
    });
  });
  void ended.then(() => {
    if (!isReady && !stop.aborted) for (const line of held) console.error(line);
  });
  return { ready, ended, groupId: child.pid ?? 0 };
}

function show(stream: Readable | null, write: (line: string) => void): void {
  if (stream === null) return;
  const isKept = createLineFilter();
  createInterface({ input: stream }).on("line", (line) => {
    if (isKept(line)) write(line);
  });
}
