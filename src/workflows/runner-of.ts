/** Which runner this deployment has. */
import type { Env } from "../env.ts";
import { AppError } from "../errors.ts";
import { DispatchRunner } from "./dispatch-runner.ts";
import { type LimitSettings, runLimits } from "./limits.ts";
import { LoaderRunner } from "./loader-runner.ts";
import { type ApiPorts, NamespaceApi } from "./namespace-api.ts";
import { type NamespaceVariables, namespaceSettings } from "./namespace-settings.ts";
import type { Runner } from "./runner.ts";

/** One for all callers of an environment: a runner may remember what became of its isolates. */
const runners = new WeakMap<object, Runner>();

/** INTERNAL_ERROR when this deployment has none, or when a setting of it is missing. */
export function runnerOf(env: RunnerEnv): Runner {
  const binding = env.DISPATCHER ?? env.LOADER;
  const runner = (binding && runners.get(binding)) ?? makeRunner(env);
  if (binding !== undefined) runners.set(binding, runner);
  return runner;
}

type RunnerEnv = LimitSettings & NamespaceVariables & Pick<Env, "LOADER" | "DISPATCHER">;

function makeRunner(env: RunnerEnv): Runner {
  const { DISPATCHER, LOADER } = env;
  if (DISPATCHER !== undefined) {
    return new DispatchRunner(DISPATCHER, new NamespaceApi(namespaceSettings(env), PORTS), runLimits(env));
  }
  if (LOADER !== undefined) return new LoaderRunner(LOADER);
  throw new AppError(
    "Server",
    "INTERNAL_ERROR",
    "Workflows need the binding DISPATCHER (dispatch_namespaces) or LOADER (worker_loaders) of wrangler.toml",
  );
}

const PORTS: ApiPorts = {
  fetch: (...args) => fetch(...args),
  now: Date.now,
  random: Math.random,
  pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};
