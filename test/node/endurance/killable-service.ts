/** The service in processes that are killed with SIGKILL, and started again on the same data in under a second. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { V4WorkerOptions } from "miniflare";
import { inject } from "vitest";
import { NAMESPACE, namespaceWorker } from "../../support/namespace/worker.ts";
import { askFor } from "../cli/made-once.ts";
import { allGone, findFreePort, killTree, processTree } from "../cli/processes.ts";
import type { Organization } from "../cli/service.ts";
import type { Request } from "./serve.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of the state that every {@link KillableService} starts with. */
    preparedServiceUrl: string;
  }
}

/** The initial state of every service: made once, copied for each. */
export interface PreparedService {
  readonly atrium: NamedWorker;
  /** A state directory with tables, in which the organization is the only one. */
  readonly state: string;
  readonly organization: Organization;
}

const SERVE = path.join(import.meta.dirname, "serve.ts");
const LIMIT_MS = 180_000;

/** The Workers that serve.ts serves. */
export interface Served {
  /** The first one is Atrium. */
  readonly workers: readonly [NamedWorker, ...NamedWorker[]];
  readonly persistTo: string;
}

export type NamedWorker = V4WorkerOptions & { readonly name: string };

/** Settings by the names in wrangler.toml. */
type Settings = Readonly<Record<string, string>>;

/** The runner of workflows: the Worker Loader, as locally, or a dispatch namespace, as in production. */
export type RunnerKind = "loader" | "dispatch";

/**
 * Atrium as `npm start` runs it, with the same bindings and the same state folder, but on prepared state and without
 * a demo: it starts again in less time than passes between two kills.
 */
export class KillableService {
  readonly organization: Organization;
  readonly #directory: string;
  /** Listed at the start: listing them before a kill would give the service time to finish its work. */
  #pids: readonly number[] = [];
  #url = "";
  #child: ChildProcess | null = null;

  private constructor(directory: string, organization: Organization) {
    this.#directory = directory;
    this.organization = organization;
  }

  /** Starts the bundled Worker on a copy of the prepared state. Who is killed with it leaves at once, unless there is a grace. */
  static async prepare(
    runner: RunnerKind = "loader",
    { graceMs = 0, settings = {} }: { readonly graceMs?: number; readonly settings?: Settings } = {},
  ): Promise<KillableService> {
    const prepared = await askFor<PreparedService>(inject("preparedServiceUrl"));
    const { state, organization } = prepared;
    const bindings = { ...prepared.atrium.bindings, RECONNECT_GRACE_MS: `${graceMs}`, ...settings };
    const atrium = { ...prepared.atrium, bindings };
    const directory = await mkdtemp(path.join(tmpdir(), "atrium-endurance-"));
    try {
      const service = new KillableService(directory, organization);
      await cp(state, service.state, { recursive: true });
      const workers = runner === "loader" ? ([atrium] as const) : await besideNamespace(atrium);
      const served: Served = { workers, persistTo: path.join(service.state, "v3") };
      await writeFile(descriptionIn(directory), JSON.stringify(served));
      await service.start();
      return service;
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
  }

  /** The state directory, as `--persist-to` names it. */
  get state(): string {
    return path.join(this.#directory, "state");
  }

  /** Changes with each start. */
  get url(): string {
    return this.#url;
  }

  /** Changes with each start; 0 before the first. */
  get port(): number {
    return this.#url === "" ? 0 : Number(new URL(this.#url).port);
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

  /** Runs the scheduled tasks, as the cron trigger does each minute. */
  async runScheduled(): Promise<void> {
    await this.#ask({ type: "scheduled" });
  }

  /** Runs a statement in the service's D1 database and returns its rows. */
  async query<Row>(sql: string): Promise<Row[]> {
    return (await this.#ask({ type: "query", sql })) as Row[];
  }

  async #ask(request: Request): Promise<unknown> {
    const child = this.#child;
    if (child === null) throw new Error("The service does not run");
    const answered = once(child, "message", { signal: AbortSignal.timeout(LIMIT_MS) });
    child.send(request);
    const [answer] = await answered;
    return answer;
  }

  /** Kills all of its processes at once; resolves when they have ended. */
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

/** The address on which serve.ts listens. */
async function addressOf(child: ChildProcess): Promise<string> {
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`The service ended with exit code ${code} before it was ready`);
  });
  failed.catch(() => undefined); // a later end is expected
  const sent = once(child, "message", { signal: AbortSignal.timeout(LIMIT_MS) });
  const [address] = await Promise.race([sent, failed]);
  return String(address);
}

/** Adds the stand-in for a dispatch namespace, whose API replaces Cloudflare's. */
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
