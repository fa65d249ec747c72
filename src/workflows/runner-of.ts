/** Which runner this deployment has. */
import type { Env } from "../env.ts";
import { AppError } from "../errors.ts";
import { LoaderRunner } from "./loader-runner.ts";
import type { Runner } from "./runner.ts";

const loaderRunners = new WeakMap<WorkerLoader, Runner>();

/** One for all callers: it remembers which isolates are spent. INTERNAL_ERROR when there is none. */
export function runnerOf({ LOADER }: Pick<Env, "LOADER">): Runner {
  if (LOADER === undefined) {
    throw new AppError("Server", "INTERNAL_ERROR", "Workflows need the binding LOADER (worker_loaders)");
  }
  const runner = loaderRunners.get(LOADER) ?? new LoaderRunner(LOADER);
  loaderRunners.set(LOADER, runner);
  return runner;
}
