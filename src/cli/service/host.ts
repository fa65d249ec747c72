/** `node host.ts OPTIONS`: serves the Worker in workerd, for as long as the process that started this one lives. */
import path from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type WorkerdStructuredLog } from "miniflare";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import { runLimits } from "../../platform/config.ts";
import type { Settings } from "../../platform/settings.ts";
import { packageService } from "../package/tarball.ts";
import {
  DEVELOPMENT,
  mailInDevelopment,
  mailTray,
  runEveryMinute,
  settingsOf,
  WINDOWS_WARNING,
} from "./development.ts";
import { diskService, watchDisk } from "./disk.ts";
import { DEBUG_PORT } from "./pool/debug-port-plugin.ts";
import { type PoolService, startPool } from "./pool/pool-service.ts";
import type { HostOptions, Restart } from "./server.ts";

/** The names of this machine for itself. A page of another site cannot pass for one of ours under them. */
const LOCAL_HOSTS = "localhost,127.0.0.1,::1";
const LOCAL_ADDRESS = "127.0.0.1";
const NAME = "atrium";
/** workerd has no Unix sockets on Windows. There, programs run in the service's own process. */
const HAS_POOL = process.platform !== "win32";

/** The only sign that Miniflare has given up on workerd, which crashed while it was restarted. */
const GIVEN_UP = "failed to restart after an unexpected crash";

/** Prints Miniflare's own warnings, such as that it restarts workerd after a crash. When even that fails, this process ends. */
class TerminalLog extends Log {
  #isRestarting = false;

  /** The next end of workerd is no crash. */
  restarting(why: string): void {
    console.error(why);
    this.#isRestarting = true;
  }

  override logWithLevel(level: LogLevel, message: string): void {
    if (level > LogLevel.WARN) return;
    if (message.includes(GIVEN_UP)) fail(message);
    if (this.#isRestarting && message.includes("crashed unexpectedly")) this.#isRestarting = false;
    else console.error(message);
  }
}

const log = new TerminalLog(LogLevel.WARN);

function restart({ pid, why }: Restart): void {
  log.restarting(why);
  try {
    process.kill(pid, "SIGKILL");
  } catch {}
}

function printLog({ level, message }: WorkerdStructuredLog): void {
  if (level === "warn" || level === "error") console.error(message);
  else console.log(message);
}

function fail(error: unknown): never {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}

const parseOptions = (json: string): HostOptions => JSON.parse(json) as HostOptions;

/** Ends workerd, and then this process. Miniflare kills workerd when this process exits before that. */
async function end(): Promise<void> {
  ending.abort();
  await Promise.all([miniflare?.dispose(), running?.stop()]);
  process.exit();
}

const ending = new AbortController();
let miniflare: Miniflare | undefined;
let running: PoolService | null = null;
// The other end of the channel closes it to end the service, and by its own death.
process.once("disconnect", end);
process.on("message", restart);
process.on("unhandledRejection", fail);

const { port, host, persistTo, demoAccountId, config, modules } = parseOptions(process.argv[2] ?? "");
const worker = unstable_getMiniflareWorkerOptions(config).workerOptions;
const settings: Settings = { ...(worker.bindings ?? {}), ...settingsOf(process.env) };
const mail = mailInDevelopment(settings, port);
const pool = HAS_POOL
  ? await startPool(runLimits(settings).memoryMb, (error) =>
      console.error("The pool of programs failed:", error),
    )
  : null;
if (pool === null) console.warn(WINDOWS_WARNING);
const served = new Miniflare(
  convertV4MiniflareOptions({
    workers: [
      {
        ...worker,
        ...DEVELOPMENT.bindings,
        ...modules,
        name: NAME,
        bindings: {
          CLIENT_ADDRESS: LOCAL_ADDRESS,
          ALLOWED_HOSTS: LOCAL_HOSTS,
          ...DEVELOPMENT.settings,
          ...mail,
          ...(worker.bindings ?? {}),
          DEMO_ACCOUNT_ID: demoAccountId,
          ...settingsOf(process.env),
          ...DEVELOPMENT.withoutPlaces,
        },
        serviceBindings: {
          PUBLIC_NETWORK: DEVELOPMENT.publicNetwork,
          DISK: diskService(persistTo),
          PACKAGE: packageService(ending.signal),
          ...(pool && { PROGRAM_POOL: { external: { address: pool.address, http: {} } } }),
          ...(mail && { MAIL_TRAY: mailTray(path.join(persistTo, "mail"), console.log) }),
        },
        ...(pool && {
          unsafeBindings: [{ name: "PROGRAM_PORT", type: "debug-port", plugin: DEBUG_PORT, options: {} }],
        }),
        // The Worker itself listens on the service's port. Miniflare's additions (/cdn-cgi/local, headers that
        // change a request) stay at the port below, which the system chooses.
        unsafeDirectSockets: [{ host, port }],
      },
    ],
    host: LOCAL_ADDRESS,
    port: 0,
    // The folder of `wrangler dev --persist-to`.
    resourcePersistencePath: path.join(persistTo, "v3"),
    cf: false,
    logRequests: false,
    telemetry: { enabled: false },
    log,
    handleStructuredLogs: printLog,
  }),
);
miniflare = served;
running = pool;
watchDisk(persistTo, console.error, ending.signal);
await served.ready.catch(fail);
process.send?.("ready");
runEveryMinute(
  async () => (await served.getWorker(NAME)).scheduled({ cron: "* * * * *" }),
  (error) => console.error("The scheduled tasks failed:", error instanceof Error ? error.message : error),
  ending.signal,
);
