/** Runs programs in isolates of this process, through the Worker Loader. Needs no setup. */
import { exports, RpcTarget, WorkerEntrypoint } from "cloudflare:workers";
import { guestWorker } from "./guest-modules.ts";
import { type Guest, invoke } from "./invocation.ts";
import {
  type HostBindings,
  type PlatformLimits,
  platformLimits,
  type RunInput,
  type RunLimits,
  type Runner,
  type RunReport,
  type Script,
  type ScriptKey,
} from "./runner.ts";

/** A guest whose isolate the holder frees. */
type HeldGuest = Guest & Disposable;

/** Opens an isolate. Disposing of the result frees it. */
type OpenIsolate = (module: string, limits: PlatformLimits) => Promise<HeldGuest>;

/** An isolate that is kept for later runs, and the number of runs in progress. */
interface WarmIsolate {
  readonly guest: Promise<HeldGuest>;
  runs: number;
  isRetired: boolean;
  idleSince: number;
  /** Frees the isolate when no run follows. Runs do not reset the timer, which would cost them time. */
  idleTimer: ReturnType<typeof setTimeout> | undefined;
}

/** Identifies a script within this version of the service. */
const nameOf = ({ accountId, workflowId, hash }: ScriptKey): string => `${accountId}/${workflowId}/${hash}`;

/** Isolates that one runner keeps: an object runs one workflow, whose code changes occasionally. */
const MAX_WARM = 2;
/**
 * Idle time after which an isolate is freed. Shorter than that of an object, which frees nothing when it leaves
 * memory.
 */
const IDLE_MS = 5_000;

/**
 * Belongs to the object that creates it, which disposes of it. An isolate in which a program was stopped, or has done
 * much work, is not reused, because the program's state remains in it.
 */
export class LoaderRunner implements Runner {
  readonly #openIsolate: OpenIsolate;
  readonly #idleMs: number;
  /** Warm isolates by script name, the least recently used first. */
  readonly #warm = new Map<string, WarmIsolate>();

  constructor(openIsolate: OpenIsolate, idleMs: number = IDLE_MS) {
    this.#openIsolate = openIsolate;
    this.#idleMs = idleMs;
  }

  [Symbol.dispose](): void {
    for (const [name, warm] of [...this.#warm]) this.#retire(name, warm);
  }

  async run(script: Script, input: RunInput, bindings: HostBindings, limits: RunLimits): Promise<RunReport> {
    const name = nameOf(script);
    const warm = this.#warmUp(name, script.module, limits);
    warm.runs += 1;
    try {
      const { report, isSpent } = await invoke(await warm.guest, { input, bindings, limits }, () => false);
      if (isSpent) this.#retire(name, warm);
      return report;
    } catch (error) {
      this.#retire(name, warm);
      throw error;
    } finally {
      warm.runs -= 1;
      warm.idleSince = Date.now();
      if (warm.isRetired) this.#free(warm);
      else warm.idleTimer ??= setTimeout(() => this.#retireIdle(name, warm), this.#idleMs);
    }
  }

  /** Retires an isolate that has been idle for long enough, or looks again when it may have been. */
  #retireIdle(name: string, warm: WarmIsolate): void {
    warm.idleTimer = undefined;
    if (warm.runs > 0) return; // the end of the last one sets the timer again
    const leftMs = warm.idleSince + this.#idleMs - Date.now();
    if (leftMs <= 0) this.#retire(name, warm);
    else warm.idleTimer = setTimeout(() => this.#retireIdle(name, warm), leftMs);
  }

  #warmUp(name: string, module: string, limits: RunLimits): WarmIsolate {
    const warm = this.#warm.get(name) ?? {
      guest: this.#openIsolate(module, platformLimits(limits)),
      runs: 0,
      isRetired: false,
      idleSince: 0,
      idleTimer: undefined,
    };
    this.#warm.delete(name);
    this.#warm.set(name, warm);
    const [oldest] = this.#warm;
    if (this.#warm.size > MAX_WARM && oldest !== undefined) this.#retire(...oldest);
    return warm;
  }

  /** Accepts no further runs; frees the isolate when those in progress end. */
  #retire(name: string, warm: WarmIsolate): void {
    if (this.#warm.get(name) === warm) this.#warm.delete(name);
    warm.isRetired = true;
    clearTimeout(warm.idleTimer);
    this.#free(warm);
  }

  #free({ guest, runs }: WarmIsolate): void {
    if (runs > 0) return;
    guest.then(
      (opened) => opened[Symbol.dispose](),
      () => {}, // the run that opened it has rejected
    );
  }
}

/**
 * The Worker Loader keeps a named isolate forever, and one without a name as long as the context that
 * asked for it. Here, that context ends when the stub of the {@link Isolate} is disposed.
 */
export class Isolates extends WorkerEntrypoint<{ readonly LOADER?: WorkerLoader }> {
  /** A new isolate with a compiled program, which starts with the first call. */
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
