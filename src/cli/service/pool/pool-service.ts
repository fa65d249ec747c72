/** The pool as a service that the Worker calls, and the folder, the configuration and the clock that it needs. */

import { once } from "node:events";
import { copyFile, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { availableParallelism, tmpdir, totalmem } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import {
  type Lease,
  type LeaseEnd,
  type LeaseReport,
  type LeaseRequest,
  POOL_PATHS,
  PROCESS_SERVICE,
} from "../../../sandbox/runners/pool-protocol.ts";
import { isAlive, ROOT } from "../../process/supervisor.ts";
import { ProgramPool } from "./program-pool.ts";
import { makeStarter, readUsage } from "./program-process.ts";

/** The program of a process. */
const WORKER = path.join(ROOT, ".wrangler/guest/program-worker.js");

const POLL_MS = 50;
const MEBIBYTE = 1024 * 1024;
/** The pool enforces the limit of a program's heap; V8 needs more for garbage. */
const HEAP_SLACK_MB = 64;
const PROCESS_MB = 64;
/** Reserved before any program: 512 MB are for machine code. */
const RESERVED_MB = 640;
const MAX_AT_WORK = 16;
/** A process whose program has left more memory behind ends with its run. */
const IDLE_MB = 128;
const MAX_IDLE = 64;
const FOLDER_PREFIX = "atrium-programs-";

/** Processes at work and idle ones may each fill a quarter of the machine's memory. */
function settingsFor(heapMb: number) {
  const fitting = (processMb: number) => Math.floor(totalmem() / 4 / (processMb * MEBIBYTE));
  const maxAtWork = Math.max(2, Math.min(MAX_AT_WORK, fitting(heapMb + PROCESS_MB)));
  const maxProcesses = maxAtWork + Math.min(MAX_IDLE, fitting(IDLE_MB));
  const maxPerAccount = Math.max(1, Math.min(2 * availableParallelism(), Math.floor(maxAtWork / 4)));
  return { maxProcesses, maxAtWork, maxPerAccount, idleMs: 30_000, maxWaitMs: 60_000 };
}

export interface PoolService {
  /** A socket in a private folder, past Miniflare. */
  readonly address: string;
  stop(): Promise<void>;
}

/** Starts the pool without processes. */
export async function startPool(memoryMb: number, report: (error: unknown) => void): Promise<PoolService> {
  const heapMb = memoryMb + HEAP_SLACK_MB;
  await removeAbandoned();
  // A private folder with a short path: the address of a socket has up to 107 characters.
  const folder = await mkdtemp(path.join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
  const config = path.join(folder, "workerd.capnp");
  await writeFile(config, configFor(heapMb));
  // A copy: another start may bundle another version.
  await copyFile(WORKER, path.join(folder, path.basename(WORKER)));
  const start = makeStarter(folder, config, RESERVED_MB + 2 * heapMb);
  const pool = new ProgramPool(settingsFor(heapMb), { start, readUsage, now: () => performance.now() });
  const timer = setInterval(() => pool.poll().catch(report), POLL_MS);
  const socket = path.join(folder, "pool.sock");
  const server = createServer((request, response) => void respond(pool, request, response));
  // The Worker closes connections that idle. If both did, one would meet a request on its way.
  server.keepAliveTimeout = 0;
  server.listen(socket);
  await once(server, "listening");
  return {
    address: `unix:${socket}`,
    async stop() {
      clearInterval(timer);
      pool.stop();
      server.close();
      server.closeAllConnections();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The Worker writes requests by the same types. */
function answer(pool: ProgramPool, to: string | undefined, body: unknown): Promise<Lease | LeaseReport> {
  if (to === POOL_PATHS.lease) return pool.lease(body as LeaseRequest);
  if (to === POOL_PATHS.end) return pool.end(body as LeaseEnd);
  throw new Error(`There is no path ${to}`);
}

/** The Worker receives errors as refusals. */
async function respond(pool: ProgramPool, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const json = JSON.stringify(await answer(pool, request.url, JSON.parse(await text(request))));
    response.writeHead(200, { "Content-Type": "application/json" }).end(json);
  } catch (error) {
    response.writeHead(503).end(error instanceof Error ? error.message : String(error));
  }
}

/** A service that was killed leaves its folder behind. */
async function removeAbandoned(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    const [, pid] = new RegExp(`^${FOLDER_PREFIX}(\\d+)-`).exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(path.join(tmpdir(), name), { recursive: true, force: true }).catch(() => {});
  }
}

/**
 * No network: the service fetches for programs. V8 ends the process at its heap's limit; the pool measures other memory,
 * and the system bounds it at twice the heap.
 */
const configFor = (heapMb: number): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "${PROCESS_SERVICE.name}", worker = .programs),
    (name = "nowhere", network = (allow = [])),
  ],
  sockets = [],
  v8Flags = ["--max-old-space-size=${heapMb}"],
);
const programs :Workerd.Worker = (
  modules = [(name = "${path.basename(WORKER)}", esModule = embed "${path.basename(WORKER)}")],
  compatibilityDate = "2026-10-01",
  globalOutbound = "nowhere",
  bindings = [
    (name = "LOADER", workerLoader = ()),
    (name = "TOKEN", fromEnvironment = "TOKEN"),
  ],
);
`;
