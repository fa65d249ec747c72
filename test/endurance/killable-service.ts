/** The service in processes that are killed with SIGKILL, and started again on the same data in under a second. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { V4WorkerOptions } from "miniflare";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import { bundleWorker, CONFIG } from "../node/deployed.ts";
import { allGone, findFreePort, killTree, processTree } from "../node/processes.ts";
import { createAccount, type Organization } from "../node/service.ts";
import { NAMESPACE, namespaceWorker } from "../support/namespace/worker.ts";

const SERVE = path.join(import.meta.dirname, "serve.ts");
const LIMIT_MS = 60_000;

/** What serve.ts is told. */
export interface Served {
  /** The first one is Atrium. */
  readonly workers: readonly [NamedWorker, ...NamedWorker[]];
  readonly persistTo: string;
}

type NamedWorker = V4WorkerOptions & { readonly name: string };

/** What runs workflows: the Worker Loader, as locally, or a dispatch namespace, as in production. */
export type RunnerKind = "loader" | "dispatch";

/**
 * Atrium as `npm start` runs it, with the bindings of wrangler.toml and its data in the same places, but bundled
 * once: `wrangler dev` bundles at each start, which takes longer than all that happens between two kills.
 */
export class KillableService {
  readonly organization: Organization;
  readonly #directory: string;
  /** Looked up when it starts: a look at the time of the kill would give it time to finish its work. */
  #pids: readonly number[] = [];
  #url = "";
  #child: ChildProcess | null = null;

  private constructor(directory: string, organization: Organization) {
    this.#directory = directory;
    this.organization = organization;
  }

  /** Bundles the Worker as a deploy would, makes tables and an organization, and starts. */
  static async prepare(runner: RunnerKind = "loader"): Promise<KillableService> {
    const directory = await mkdtemp(path.join(tmpdir(), "atrium-endurance-"));
    try {
      const state = path.join(directory, "state");
      const [organization, atrium] = await Promise.all([
        createAccount({ persistTo: state }, "Endurance"),
        bundle(path.join(directory, "worker")),
      ]);
      const workers = runner === "loader" ? ([atrium] as const) : await besideNamespace(atrium);
      const served: Served = { workers, persistTo: path.join(state, "v3") };
      await writeFile(descriptionIn(directory), JSON.stringify(served));
      const service = new KillableService(directory, organization);
      await service.start();
      return service;
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
  }

  /** Each start listens at an address of its own. */
  get url(): string {
    return this.#url;
  }

  async start(): Promise<void> {
    const child = fork(SERVE, [descriptionIn(this.#directory)]);
    this.#child = child;
    const pid = child.pid ?? 0;
    try {
      this.#url = await addressOf(child);
    } catch (error) {
      await killTree(pid);
      throw error;
    }
    this.#pids = processTree(pid).map((process) => process.pid);
  }

  /** Does what the cron trigger does each minute. */
  async keepHouse(): Promise<void> {
    const child = this.#child;
    if (child === null) throw new Error("The service does not run");
    const done = once(child, "message", { signal: AbortSignal.timeout(LIMIT_MS) });
    child.send("keep house");
    await done;
  }

  /** Kills all of its processes, now; settles when they are gone. */
  kill(): Promise<void> {
    const pids = this.#pids;
    this.#pids = [];
    for (const pid of pids) process.kill(pid, "SIGKILL");
    return allGone(pids);
  }

  /** Kills it for good, and removes its data. */
  async dispose(): Promise<void> {
    await this.kill();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

const descriptionIn = (directory: string): string => path.join(directory, "served.json");

/** Where serve.ts says that it listens. */
async function addressOf(child: ChildProcess): Promise<string> {
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`The service ended with exit code ${code} before it was ready`);
  });
  failed.catch(() => undefined); // later on, its end is what everybody waits for
  const told = once(child, "message", { signal: AbortSignal.timeout(LIMIT_MS) });
  const [address] = await Promise.race([told, failed]);
  return String(address);
}

async function bundle(out: string): Promise<NamedWorker> {
  return {
    ...unstable_getMiniflareWorkerOptions(CONFIG).workerOptions,
    ...(await bundleWorker(out, AbortSignal.timeout(LIMIT_MS))),
    name: "atrium",
    bindings: {
      JWT_SECRET: "a-secret-of-the-tests-and-of-nothing-else",
      WEBHOOK_DEV_TARGETS: "127.0.0.1",
      WORKFLOW_DEV_TARGETS: "127.0.0.1",
    },
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
  };
}

/** With the stand-in for a dispatch namespace, whose API it reaches as it would Cloudflare's. */
async function besideNamespace(atrium: NamedWorker): Promise<Served["workers"]> {
  const port = await findFreePort();
  const settings = {
    WORKFLOWS_CF_ACCOUNT_ID: NAMESPACE.accountId,
    WORKFLOWS_NAMESPACE: NAMESPACE.namespace,
    WORKFLOWS_API_TOKEN: NAMESPACE.token,
    WORKFLOWS_API_URL: `http://127.0.0.1:${port}/client/v4`,
  };
  return [
    {
      ...atrium,
      workerLoaders: {},
      bindings: { ...atrium.bindings, ...settings },
      serviceBindings: {
        ...atrium.serviceBindings,
        DISPATCHER: { name: "namespace", entrypoint: "Dispatcher" },
      },
    },
    { ...(await namespaceWorker()), unsafeDirectSockets: [{ host: "127.0.0.1", port }] },
  ];
}
