/** Selects the runner of this deployment by its bindings. */

import { AppError } from "@atrium/contract/errors.ts";
import type { DebugPort } from "../../env.ts";
import { namespaceSettings, runLimits } from "../../platform/config.ts";
import { sleep } from "../../platform/flow/concurrency.ts";
import type { Settings } from "../../platform/settings.ts";
import { type Compiler, compileHere, compileInPool } from "./compiler.ts";
import { DispatchRunner } from "./dispatch-runner.ts";
import { Isolates, LoaderRunner } from "./loader-runner.ts";
import { type ApiPorts, NamespaceApi } from "./namespace-api.ts";
import {
  connectEachTime,
  PoolClient,
  type PoolConnections,
  PoolRunner,
  ReusedConnection,
} from "./pool-client.ts";
import type { Runner } from "./runner.ts";

/** The bindings that `npm start` gives the service for its pool. */
interface PoolBindings {
  readonly PROGRAM_POOL?: Fetcher;
  readonly PROGRAM_PORT?: DebugPort;
}

/** The bindings that run programs. A deployment has one of them; `npm start` adds those of its pool. */
interface RunnerBindings extends PoolBindings {
  readonly LOADER?: WorkerLoader;
  readonly DISPATCHER?: DispatchNamespace;
}

/**
 * Creates a runner for the calling object, which keeps it: isolates end with the object. INTERNAL_ERROR when
 * neither binding exists or a setting is missing.
 */
export function selectRunner(env: Settings & RunnerBindings): Runner {
  const { DISPATCHER, LOADER } = env;
  const pool = openPool(env, (port) => new ReusedConnection(port));
  if (pool !== null) return new PoolRunner(pool);
  if (DISPATCHER !== undefined) {
    return new DispatchRunner(DISPATCHER, new NamespaceApi(namespaceSettings(env), PORTS), runLimits(env));
  }
  if (LOADER !== undefined) return new LoaderRunner((...args) => Isolates.hold(...args));
  throw new AppError(
    "Server",
    "INTERNAL_ERROR",
    "Workflows are not set up in this deployment: set WORKFLOWS in atrium.toml, and run `npm run deploy`",
  );
}

/** Selects the compiler of saved programs, for any request. */
export function selectCompiler(env: PoolBindings): Compiler {
  const pool = openPool(env, connectEachTime);
  return pool === null ? compileHere : compileInPool(pool);
}

const openPool = (
  { PROGRAM_POOL, PROGRAM_PORT }: PoolBindings,
  connectBy: (port: DebugPort) => PoolConnections,
): PoolClient | null =>
  PROGRAM_POOL === undefined || PROGRAM_PORT === undefined
    ? null
    : new PoolClient(PROGRAM_POOL, connectBy(PROGRAM_PORT));

const PORTS: ApiPorts = {
  fetch: (...args) => fetch(...args),
  now: Date.now,
  random: Math.random,
  pause: sleep,
};
