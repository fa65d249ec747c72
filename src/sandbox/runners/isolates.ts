/** Isolates that can be let go of: each is held by a context of its own, whose end frees it at once. */
import { RpcTarget, WorkerEntrypoint } from "cloudflare:workers";
import type { Env } from "../../config.ts";
import type { RunKit } from "../../workflows/run-bindings.ts";
import { GUEST_COMPATIBILITY, guestModules, MAIN_MODULE } from "./guest-modules.ts";
import type { Guest } from "./invocation.ts";
import type { RunLimits } from "./runner.ts";

/**
 * The Worker Loader never forgets an isolate that has a name, and one without a name lives as long as the object
 * that asked for it. Here, that object ends when the stub of the {@link Isolate} is disposed.
 */
export class Isolates extends WorkerEntrypoint<Env> {
  /** A new isolate with a program that `compile` has made. Nothing of it runs before the first call. */
  open(module: string, cpuMs: number): Isolate {
    const { LOADER } = this.env;
    if (LOADER === undefined) throw new Error("The binding LOADER is missing");
    const worker = LOADER.get(null, () => ({
      compatibilityDate: GUEST_COMPATIBILITY.date,
      compatibilityFlags: [...GUEST_COMPATIBILITY.flags],
      mainModule: MAIN_MODULE,
      modules: guestModules(module),
      globalOutbound: null,
    }));
    // The entrypoint's methods are the harness's, which types cannot know.
    return new Isolate(worker.getEntrypoint(undefined, { limits: { cpuMs } }) as unknown as Guest);
  }
}

/** A guest as it is reached from outside of its context. */
export class Isolate extends RpcTarget implements Guest {
  readonly #guest: Guest;

  constructor(guest: Guest) {
    super();
    this.#guest = guest;
  }

  run(event: string, kit: RunKit, limits: RunLimits): Promise<unknown> {
    return this.#guest.run(event, kit, limits);
  }
}
