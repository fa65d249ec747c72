/** Runs programs in isolates of this process, by the Worker Loader: the runner that needs nothing set up. */
import type { RunKit } from "./bindings.ts";
import { GUEST_COMPATIBILITY, guestModules, MAIN_MODULE, nameOf } from "./guest-modules.ts";
import { type Guest, invoke } from "./invocation.ts";
import type { RunLimits, Runner, RunReport, Script } from "./runner.ts";

type ScriptKey = Pick<Script, "accountId" | "workflowId" | "hash">;

/** For a bounded memory of spent isolates; forgetting one only means that it may be used again. */
const MAX_REMEMBERED = 10_000;

export class LoaderRunner implements Runner {
  readonly #loader: WorkerLoader;
  /** What tells the next isolate of a script from one that is spent, by the script's name. */
  readonly #successors = new Map<string, string>();

  constructor(loader: WorkerLoader) {
    this.#loader = loader;
  }

  /** The loader takes scripts as they are asked for. */
  async deploy(): Promise<void> {}

  async remove(script: ScriptKey): Promise<void> {
    this.#successors.delete(await nameOf(script));
  }

  async run(script: Script, event: string, kit: RunKit, limits: RunLimits): Promise<RunReport> {
    const name = await nameOf(script);
    const isolate = `${name}${this.#successors.get(name) ?? ""}`;
    const guest = this.#open(isolate, script, limits);
    const { report, isSpent } = await invoke(guest, { event, kit, limits }, () => false);
    if (isSpent) this.#retire(name, isolate);
    return report;
  }

  #open(isolate: string, { module }: Script, { cpuMs, calls }: RunLimits): Guest {
    const worker = this.#loader.get(isolate, () => ({
      compatibilityDate: GUEST_COMPATIBILITY.date,
      compatibilityFlags: [...GUEST_COMPATIBILITY.flags],
      mainModule: MAIN_MODULE,
      modules: guestModules(module),
      globalOutbound: null,
    }));
    // The entrypoint's methods are the harness's, which types cannot know.
    return worker.getEntrypoint(undefined, { limits: { cpuMs, subRequests: calls } }) as unknown as Guest;
  }

  /** Of several runs that spend an isolate together, the first one replaces it. */
  #retire(name: string, isolate: string): void {
    if (isolate !== `${name}${this.#successors.get(name) ?? ""}`) return;
    this.#successors.delete(name);
    this.#successors.set(name, `:${crypto.randomUUID()}`);
    const [oldest] = this.#successors.keys();
    if (this.#successors.size > MAX_REMEMBERED && oldest !== undefined) this.#successors.delete(oldest);
  }
}
