/** The Worker in a process for programs: runs one program in an isolate beside it, or compiles one. */
import { WorkerEntrypoint } from "cloudflare:workers";
import { type Compilation, compile } from "../compile/compile.ts";
import { guestWorker } from "./guest-modules.ts";
import type { Guest } from "./invocation.ts";
import type { HostBindings, RunInput, RunLimits } from "./runner.ts";

interface Env {
  readonly LOADER: WorkerLoader;
  /** Only the service that started this process knows it. */
  readonly TOKEN: string;
}

/** Name of the only program of the process, which is loaded once. */
const ISOLATE = "program";

function authorize(env: Env, token: string): void {
  if (token !== env.TOKEN) throw new Error("This process belongs to another service");
}

export class Programs extends WorkerEntrypoint<Env> {
  /** The first call's `module` is the program; later calls pass the same. */
  run(
    token: string,
    module: string,
    input: RunInput,
    bindings: HostBindings,
    limits: RunLimits,
  ): Promise<unknown> {
    authorize(this.env, token);
    const worker = this.env.LOADER.get(ISOLATE, () => guestWorker(module));
    const guest = worker.getEntrypoint() as unknown as Guest;
    return guest.run(input, bindings, limits);
  }
}

/** Compiles programs, which may take as long and as much memory as the lease of this process allows. */
export class Compiler extends WorkerEntrypoint<Env> {
  compile(token: string, source: string): Compilation {
    authorize(this.env, token);
    return compile(source);
  }
}

/** workerd starts no Worker without a handler. */
export default {
  fetch: (): Response => new Response(null, { status: 404 }),
};
