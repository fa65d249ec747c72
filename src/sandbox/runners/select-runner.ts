/** Which runner this deployment has. */
import { exports } from "cloudflare:workers";
import type { Env } from "../../config.ts";
import { AppError } from "../../platform/errors.ts";
import { DispatchRunner } from "./dispatch-runner.ts";
import { type HeldGuest, LoaderRunner } from "./loader-runner.ts";
import { type ApiPorts, NamespaceApi } from "./namespace-api.ts";
import { type NamespaceVariables, namespaceSettings } from "./namespace-settings.ts";
import { type LimitSettings, runLimits } from "./run-limits.ts";
import type { Runner } from "./runner.ts";

/**
 * A runner for the object that calls, which keeps it: isolates of this process stay warm with it, and end with the
 * object. INTERNAL_ERROR when there is nothing to run programs with, or a setting is missing.
 */
export function selectRunner(
  env: LimitSettings & NamespaceVariables & Pick<Env, "LOADER" | "DISPATCHER">,
): Runner {
  const { DISPATCHER, LOADER } = env;
  if (DISPATCHER !== undefined) {
    return new DispatchRunner(DISPATCHER, new NamespaceApi(namespaceSettings(env), PORTS), runLimits(env));
  }
  if (LOADER !== undefined) {
    // RPC gives a stub of what `open` returns, with the methods of both.
    return new LoaderRunner(
      async (...args) => (await exports.Isolates.open(...args)) as unknown as HeldGuest,
    );
  }
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
