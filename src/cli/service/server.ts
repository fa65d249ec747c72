/** The service as a child process: when it is ready, and when it has ended. */
import { once } from "node:events";
import path from "node:path";
import { spawnSupervised } from "../process/supervisor.ts";

const HOST = path.join(import.meta.dirname, "host.ts");

/** The code of a Miniflare Worker, as its options. */
export interface WorkerModules {
  readonly modules: { readonly type: "ESModule" | "Text"; readonly path: string }[];
  readonly modulesRoot: string;
}

export interface HostOptions {
  readonly port: number;
  /** The address to listen at, such as `localhost` or `0.0.0.0`. */
  readonly host: string;
  readonly persistTo: string;
  /** The organization that /demo belongs to. */
  readonly demoAccountId: string;
  readonly config: string;
  readonly modules: WorkerModules;
}

export interface Server {
  readonly ready: Promise<void>;
  /** Exit code, once all processes of the server are gone. */
  readonly ended: Promise<number | null>;
  /** The process group that all of its processes belong to. */
  readonly groupId: number;
  /** Kills this workerd of the service, which starts another one, and logs the reason. */
  restart(pid: number, why: string): void;
}

/** The message of {@link Server.restart} to the serving process. */
export interface Restart {
  readonly pid: number;
  readonly why: string;
}

/** Starts the service. `wrangler dev` with the same state folder serves the same data. */
export function startServer(options: HostOptions, stop: AbortSignal): Server {
  const env = { WRANGLER_LOG: process.env.WRANGLER_LOG ?? "warn" };
  const supervised = { env, output: "inherit", endedBy: "disconnect" } as const;
  const { child, ended, groupId } = spawnSupervised([HOST, JSON.stringify(options)], supervised, stop);
  return {
    ready: once(child, "message").then(() => undefined),
    ended,
    groupId,
    restart: (pid, why) => void child.send({ pid, why } satisfies Restart),
  };
}
