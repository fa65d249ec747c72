/** Which runner this deployment has. */
import { exports } from "cloudflare:workers";
import type { Env } from "../env.ts";
import { AppError } from "../errors.ts";
import { type HeldGuest, LoaderRunner } from "./loader-runner.ts";
import type { Runner } from "./runner.ts";

/**
 * A runner for the object that calls, which keeps it: isolates stay warm with it, and end with the object.
 * INTERNAL_ERROR when there is nothing to run programs with.
 */
export function runnerOf({ LOADER }: Pick<Env, "LOADER">): Runner {
  if (LOADER === undefined) {
    throw new AppError("Server", "INTERNAL_ERROR", "Workflows need the binding LOADER (worker_loaders)");
  }
  // RPC gives a stub of what `open` returns, with the methods of both.
  return new LoaderRunner(async (...args) => (await exports.Isolates.open(...args)) as unknown as HeldGuest);
}
