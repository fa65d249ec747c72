/** The binding that calls scripts of the namespace: they are loaded by the Worker Loader, by name and version. */
import { RpcTarget, WorkerEntrypoint } from "cloudflare:workers";
import { findScript, type NamespaceEnv, type Script } from "./scripts.ts";

/** The part of `DynamicDispatchOptions` that is known here. */
export interface DispatchOptions {
  readonly limits?: { readonly cpuMs?: number; readonly subRequests?: number };
}

/** A script's methods by their names, as they are called over RPC. */
type Methods = Record<string, (...args: unknown[]) => Promise<unknown>>;

export class Dispatcher extends WorkerEntrypoint<NamespaceEnv> {
  /** Answers whether there is such a script or not: a call of it tells. */
  get(name: string, _args: object = {}, options: DispatchOptions = {}): DispatchedScript {
    return new DispatchedScript(this.env, name, options);
  }

  /**
   * Calls `run` of a script, and answers with an error instead of throwing it: each error that crosses from one
   * Worker to another is also written to the log as an uncaught exception.
   */
  async attempt(name: string, options: DispatchOptions, ...args: unknown[]): Promise<Attempt> {
    try {
      return { value: await new DispatchedScript(this.env, name, options).run(...args) };
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** Answer of `attempt`. */
export type Attempt = { readonly value: unknown } | { readonly problem: string };

/** Result of `get`, with the methods that the tests' scripts have. */
class DispatchedScript extends RpcTarget {
  readonly #env: NamespaceEnv;
  readonly #name: string;
  readonly #options: DispatchOptions;

  constructor(env: NamespaceEnv, name: string, options: DispatchOptions) {
    super();
    this.#env = env;
    this.#name = name;
    this.#options = options;
  }

  async fetch(request: Request): Promise<Response> {
    return (await this.#load()).fetch(request);
  }

  async run(...args: unknown[]): Promise<unknown> {
    const methods = (await this.#load()) as unknown as Methods;
    return methods.run?.(...args);
  }

  async #load(): Promise<Fetcher> {
    const script = await findScript(this.#env, this.#name);
    if (script === null) throw new Error("Worker not found.");
    const { cpu_ms = Number.POSITIVE_INFINITY } = script.metadata.limits ?? {};
    // Processor time is measured nowhere here; who may use none has used too much, though.
    if (Math.min(cpu_ms, this.#options.limits?.cpuMs ?? cpu_ms) <= 0)
      throw new Error("Worker exceeded CPU time limit.");
    return loadScript(script, this.#env);
  }
}

/** An isolate of this version of the script; a `purpose` keeps it apart from others of the same version. */
export function loadScript(
  { name, etag, metadata, modules }: Script,
  env: NamespaceEnv,
  purpose = "",
): Fetcher {
  const { main_module: mainModule, compatibility_date, compatibility_flags } = metadata;
  const worker = env.LOADER.get(`${name}:${etag}:${purpose}`, () => ({
    mainModule,
    modules: Object.fromEntries(
      modules.map(({ name, content }) => [name, { js: Buffer.from(content, "base64").toString() }]),
    ),
    compatibilityDate: compatibility_date,
    compatibilityFlags: [...compatibility_flags],
  }));
  return worker.getEntrypoint();
}
