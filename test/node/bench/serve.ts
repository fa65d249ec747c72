/** Serves Workers side by side in one workerd process, each on a direct socket of its own, from a temporary directory. */
import { rmSync } from "node:fs";
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { convertV4MiniflareOptions, Miniflare, type V4WorkerOptions } from "miniflare";
import { bundleWorker } from "../../../src/cli/bundle/worker-bundle.ts";
import { CommandError } from "../../../src/cli/process/command.ts";
import { ROOT } from "../../../src/cli/process/supervisor.ts";
import { DEBUG_PORT } from "../../../src/cli/service/pool/debug-port-plugin.ts";
import { type PoolService, startPool } from "../../../src/cli/service/pool/pool-service.ts";
import { childProcesses } from "./gauge.ts";
import { Inspector } from "./inspector.ts";

/** Same as in wrangler.toml. */
const COMPATIBILITY_DATE = "2026-10-01";
const START_LIMIT_MS = 60_000;
/** How the names of Workers begin whose programs run in processes of the pool. */
const POOLED = "pooled-";
/** Memory of a program, the default. */
const PROGRAM_MB = 128;

/** The bindings of each Worker: a shared database and bucket, and its own Durable Object namespaces. */
const BINDINGS = {
  bindings: {
    JWT_SECRET: "a-secret-of-the-benchmarks-and-of-nothing-else",
    WEBHOOK_DEV_TARGETS: "127.0.0.1",
    // One isolate answers the requests of many locations.
    QUOTA_REQUESTS_PER_SECOND: "1000000",
  },
  d1Databases: { DB: "bench" },
  r2Buckets: { FILES: "bench" },
  workerLoaders: { LOADER: {} },
  durableObjects: {
    ROOMS: { className: "RoomObject", useSQLite: true },
    SUBSCRIBERS: { className: "SubscriberObject", useSQLite: true },
    EVENT_LOGS: { className: "EventLogObject", useSQLite: true },
    REQUEST_LOGS: { className: "RequestLogObject", useSQLite: true },
    REQUEST_RATES: { className: "RequestRateObject", useSQLite: true },
    GUESS_LIMITS: { className: "GuessLimitObject", useSQLite: true },
    INBOXES: { className: "InboxObject", useSQLite: true },
  },
};

export type Database = Awaited<ReturnType<Miniflare["getD1Database"]>>;

export interface Served {
  /** The URL of the Worker, without a trailing slash. */
  readonly origin: (name: string) => string;
  /** The shared D1 database, with the tables of this checkout. */
  readonly db: Database;
  /** The process ID of workerd; 0 if unknown. */
  readonly pid: number;
  /** Inspector of its isolates; null unless they are inspected. */
  readonly inspector: Inspector | null;
}

/**
 * Serves these Workers of `workers/` while `work` runs, and leaves nothing behind.
 * `rewrite` may change the bundled script of each. On direct sockets: the proxies of `wrangler dev` and of Miniflare cost many times what the Worker does.
 */
export async function serving<T>(
  names: readonly [string, ...string[]],
  stop: AbortSignal,
  work: (served: Served) => Promise<T>,
  isInspected = false,
  rewrite?: (script: string) => string,
): Promise<T> {
  const directory = await mkdtemp(path.join(tmpdir(), "atrium-bench-"));
  const remove = () => rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  // Miniflare kills workerd and exits this process at once on Ctrl-C; only the exit event still runs.
  process.once("exit", remove);
  let miniflare: Miniflare | undefined;
  let pool: PoolService | undefined;
  try {
    const workers: V4WorkerOptions[] = [];
    for (const name of names) {
      const worker = await workerOf(name, directory, stop);
      if (rewrite !== undefined) await rewriteScript(path.join(directory, name, `${name}.js`), rewrite);
      if (name.startsWith(POOLED)) pool ??= await startPool(PROGRAM_MB, console.error);
      workers.push(name.startsWith(POOLED) && pool !== undefined ? withPool(worker, pool) : worker);
    }
    const others = new Set(childProcesses());
    miniflare = new Miniflare(
      convertV4MiniflareOptions({
        workers,
        cf: false,
        telemetry: { enabled: false },
        ...(isInspected && { inspectorPort: 0 }),
        resourcePersistencePath: path.join(directory, "state"),
        resourceTmpPath: path.join(directory, "tmp"),
      }),
    );
    await withinLimit(miniflare.ready, stop);
    const origins = new Map<string, string>();
    for (const name of names) origins.set(name, (await miniflare.unsafeGetDirectURL(name)).origin);
    const db = await miniflare.getD1Database("DB", names[0]);
    await migrate(db);
    const pid = childProcesses().find((child) => !others.has(child)) ?? 0;
    const inspector = isInspected ? new Inspector(await miniflare.getInspectorURL()) : null;
    return await work({ origin: (name) => origins.get(name) ?? "", db, pid, inspector });
  } finally {
    await Promise.all([miniflare?.dispose(), pool?.stop()]);
    process.off("exit", remove);
    remove();
  }
}

/** Adds the pool to a Worker, in the way of `npm start`. */
const withPool = (worker: V4WorkerOptions, pool: PoolService): V4WorkerOptions => ({
  ...worker,
  serviceBindings: { PROGRAM_POOL: { external: { address: pool.address, http: {} } } },
  unsafeBindings: [{ name: "PROGRAM_PORT", type: "debug-port", plugin: DEBUG_PORT, options: {} }],
});

/** Bundled by wrangler, as a deploy would. */
async function workerOf(name: string, directory: string, stop: AbortSignal): Promise<V4WorkerOptions> {
  return {
    name,
    ...(await bundleWorker(path.join(directory, name), stop, await findWorker(name))),
    compatibilityDate: COMPATIBILITY_DATE,
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
    ...BINDINGS,
  };
}

async function rewriteScript(file: string, rewrite: (script: string) => string): Promise<void> {
  await writeFile(file, rewrite(await readFile(file, "utf8")));
}

/** TypeScript, or JavaScript for a peer whose types may not be installed. */
async function findWorker(name: string): Promise<string> {
  const directory = path.join(import.meta.dirname, "workers");
  const file = (await readdir(directory)).find((found) => path.parse(found).name === name);
  if (file === undefined) throw new Error(`No Worker is named ${name}`);
  return path.join(directory, file);
}

async function migrate(db: Database): Promise<void> {
  const directory = path.join(ROOT, "migrations");
  const files = (await readdir(directory)).filter((file) => file.endsWith(".sql")).sort();
  for (const file of files) {
    const statements = (await readFile(path.join(directory, file), "utf8")).split("--> statement-breakpoint");
    await db.batch(statements.filter((sql) => sql.trim() !== "").map((sql) => db.prepare(sql)));
  }
}

/** The promise's value. Rejects when it takes too long or `stop` aborts. */
async function withinLimit<T>(promise: Promise<T>, stop: AbortSignal): Promise<T> {
  const limit = AbortSignal.any([stop, AbortSignal.timeout(START_LIMIT_MS)]);
  const aborted = new Promise<never>((_, reject) => {
    limit.addEventListener("abort", () => reject(new CommandError("workerd did not start in time")), {
      once: true,
    });
  });
  return Promise.race([promise, aborted]);
}
