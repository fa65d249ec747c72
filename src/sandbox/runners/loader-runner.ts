/** Runs programs in isolates of this process, by the Worker Loader: the runner that needs nothing set up. */
import type { RunKit } from "../../workflows/run-bindings.ts";
import { type Guest, invoke } from "./invocation.ts";
import type { RunLimits, Runner, RunReport, Script } from "./runner.ts";

type ScriptKey = Omit<Script, "module">;

/** An isolate of someone's keeping. */
export type HeldGuest = Guest & Disposable;

/** Opens an isolate that is freed when it is disposed of. */
export type OpenIsolate = (module: string, cpuMs: number) => Promise<HeldGuest>;

/** An isolate that is kept warm, and how many runs it has in progress. */
interface Warm {
  readonly guest: Promise<HeldGuest>;
  runs: number;
  isRetired: boolean;
}

/** Names all that decides what a script does, within this version of the service. */
const nameOf = ({ accountId, workflowId, hash }: ScriptKey): string => `${accountId}/${workflowId}/${hash}`;

/** What one runner keeps warm: an object runs one workflow, whose code changes now and then. */
const MAX_WARM = 2;

/**
 * Belongs to the object that makes it, and with it end the isolates that it keeps warm. One that a program was
 * stopped in, or has done much in, is not used again: what the program has left there would stay.
 */
export class LoaderRunner implements Runner {
  readonly #openIsolate: OpenIsolate;
  /** By the scripts' names, the least used first. */
  readonly #warm = new Map<string, Warm>();

  constructor(openIsolate: OpenIsolate) {
    this.#openIsolate = openIsolate;
  }

  /** Isolates take their scripts with them when they are opened. */
  async deploy(): Promise<void> {}

  async remove(script: ScriptKey): Promise<void> {
    const name = nameOf(script);
    this.#retire(name, this.#warm.get(name));
  }

  async run(script: Script, event: string, kit: RunKit, limits: RunLimits): Promise<RunReport> {
    const name = nameOf(script);
    const warm = this.#warmUp(name, script.module, limits.cpuMs);
    warm.runs += 1;
    try {
      const { report, isSpent } = await invoke(await warm.guest, { event, kit, limits }, () => false);
      if (isSpent) this.#retire(name, warm);
      return report;
    } catch (error) {
      this.#retire(name, warm);
      throw error;
    } finally {
      warm.runs -= 1;
      if (warm.isRetired) this.#free(warm);
    }
  }

  #warmUp(name: string, module: string, cpuMs: number): Warm {
    const warm = this.#warm.get(name) ?? {
      guest: this.#openIsolate(module, cpuMs),
      runs: 0,
      isRetired: false,
    };
    this.#warm.delete(name);
    this.#warm.set(name, warm);
    const [oldest] = this.#warm;
    if (this.#warm.size > MAX_WARM && oldest !== undefined) this.#retire(...oldest);
    return warm;
  }

  /** No further run begins there; it is freed when those in progress are over. */
  #retire(name: string, warm: Warm | undefined): void {
    if (warm === undefined) return;
    if (this.#warm.get(name) === warm) this.#warm.delete(name);
    warm.isRetired = true;
    this.#free(warm);
  }

  #free({ guest, runs }: Warm): void {
    if (runs > 0) return;
    guest.then(
      (opened) => opened[Symbol.dispose](),
      () => {}, // whoever waited for it has heard
    );
  }
}
