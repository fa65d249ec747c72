/** Isolates that can be freed: each belongs to a context of its own, whose end frees it at once. */
import { exports, RpcTarget, WorkerEntrypoint } from "cloudflare:workers";
import { guestWorker } from "./guest-modules.ts";
import type { Guest } from "./invocation.ts";
import type { HeldGuest } from "./loader-runner.ts";
import type { HostBindings, PlatformLimits, RunInput, RunLimits } from "./runner.ts";

/**
 * The Worker Loader keeps a named isolate forever, and one without a name as long as the context that
 * asked for it. Here, that context ends when the stub of the {@link Isolate} is disposed.
 */
export class Isolates extends WorkerEntrypoint<{ readonly LOADER?: WorkerLoader }> {
  /** A new isolate with a compiled program. None of it runs before the first call. */
  open(module: string, limits: PlatformLimits): Isolate {
    const { LOADER } = this.env;
    if (LOADER === undefined) throw new Error("The binding LOADER is missing");
    const worker = LOADER.get(null, () => guestWorker(module));
    return new Isolate(worker.getEntrypoint(undefined, { limits }) as unknown as Guest);
  }

  /** The same, as a stub: the calling context holds the isolate until it disposes of that, or ends. */
  static async hold(module: string, limits: PlatformLimits): Promise<HeldGuest> {
    return (await exports.Isolates.open(module, limits)) as unknown as HeldGuest;
  }
}

export class Isolate extends RpcTarget implements Guest, Disposable {
  readonly #guest: Guest;
  readonly #held = new Set<Partial<Disposable>>();

  constructor(guest: Guest) {
    super();
    this.#guest = guest;
  }

  /** Here the bindings are a stub of the host's, which only passes through and is given back when the run is over. */
  async run(
    input: RunInput,
    bindings: HostBindings & Partial<Disposable>,
    limits: RunLimits,
  ): Promise<unknown> {
    this.#held.add(bindings);
    try {
      return await this.#guest.run(input, bindings, limits);
    } finally {
      this.#giveBack(bindings);
    }
  }

  #giveBack(bindings: Partial<Disposable>): void {
    if (this.#held.delete(bindings)) bindings[Symbol.dispose]?.();
  }

  /** The holder has freed the isolate: a run that is cut off by that never gets to its own end. */
  [Symbol.dispose](): void {
    for (const bindings of [...this.#held]) this.#giveBack(bindings);
  }
}
