/** A process for programs: a workerd that listens at a socket which only this user can reach. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import path from "node:path";

/** A process that can be leased. */
export interface ProgramProcess {
  readonly pid: number;
  /** Where it listens. */
  readonly address: string;
  /** It takes calls only with this. */
  readonly token: string;
  /** Settles when it listens; rejects when it ends before that. */
  readonly ready: Promise<void>;
  /** Settles when it has ended: true when it ran out of memory by its own account. */
  readonly ended: Promise<boolean>;
  kill(): void;
}

/** Starts processes for programs. */
export type StartProcess = () => ProgramProcess;

const TOKEN_BYTES = 32;
/** `ulimit` counts in these. */
const KIBIBYTES_OF_MB = 1024;
/**
 * The service's own thread comes first, and the system bounds the data of the process, also between two looks of the
 * pool; a shell sets both, where the system has them.
 */
const BOUNDED = 'ulimit -d "$1" 2>/dev/null; shift; exec nice -n 5 "$@"';
/** What V8 and workerd print before they end for want of memory. */
const OUT_OF_MEMORY = /heap limit|out of memory|OOM|allocation failed/i;
/** What is kept of what a process prints when it ends. */
const MAX_ERROR_LENGTH = 16 * 1024;

/** The workerd of this machine that Miniflare uses. */
function findWorkerd(): string {
  const fromMiniflare = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  return (fromMiniflare("workerd") as { readonly default: string }).default;
}

/**
 * Starts processes whose sockets are in `folder`, which must be private, with the configuration there. The system lets
 * each have `dataMb` of memory that it could write to.
 */
export function makeStarter(folder: string, config: string, dataMb: number): StartProcess {
  const workerd = findWorkerd();
  let count = 0;
  return () => {
    count += 1;
    const socket = path.join(folder, `${count}.sock`);
    const token = randomBytes(TOKEN_BYTES).toString("hex");
    return start([workerd, "serve", config], socket, token, dataMb);
  };
}

function start(serve: readonly string[], socket: string, token: string, dataMb: number): ProgramProcess {
  const command = [...serve, "--experimental", "--control-fd=1", `--debug-port=unix:${socket}`];
  const child = spawn("sh", ["-c", BOUNDED, "sh", String(dataMb * KIBIBYTES_OF_MB), ...command], {
    env: { PATH: process.env.PATH, TOKEN: token },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed = (printed + text).slice(-MAX_ERROR_LENGTH);
  });
  const ended = new Promise<boolean>((resolve) => {
    child.once("error", () => resolve(false));
    child.once("close", () => resolve(OUT_OF_MEMORY.test(printed)));
  });
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes('"listen"')) resolve();
    });
    child.once("error", reject);
    child.once("close", () => reject(new Error(`A process for programs could not start: ${printed.trim()}`)));
  });
  ready.catch(() => {}); // the lease that waits for it reports it
  return {
    pid: child.pid ?? 0,
    address: `unix:${socket}`,
    token,
    ready,
    ended,
    kill: () => child.kill("SIGKILL"),
  };
}
