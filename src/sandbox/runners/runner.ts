/** The port to the sandbox, which every runner implements. */
export interface Script {
  readonly accountId: string;
  readonly workflowId: string;
  /** The customer's source as `compile` returned it. */
  readonly module: string;
  /** Identifies the behaviour of `module`: scripts with the same hash are interchangeable. */
  readonly hash: string;
}

export type ScriptKey = Omit<Script, "module">;

export interface RunInput {
  readonly event: string;
  /** Counts the runs for the event, from 1. */
  readonly attempt: number;
  /** The workflow's secrets, in no order. */
  readonly secrets: readonly Secret[];
}

/** Pairs of name and value: as keys of an object, some (such as `__proto__`) would have a meaning of their own. */
export type Secret = readonly [name: string, value: string];

export interface RunLimits {
  readonly wallMs: number;
  /** Processor time where Cloudflare measures it, in milliseconds. */
  readonly cpuMs: number;
  /** Processor time of a process of its own, which also loads the program and collects its garbage, in milliseconds. */
  readonly processCpuMs: number;
  /** Calls of the bindings, including requests by `fetch`. */
  readonly calls: number;
  readonly resultBytes: number;
  readonly logBytes: number;
  /** Memory that the program may hold at once, in mebibytes. */
  readonly memoryMb: number;
}

export interface LogLine {
  readonly level: "debug" | "log" | "info" | "warn" | "error";
  readonly message: string;
  readonly timestamp: string;
}

/**
 * The answer to a call of a binding. Errors are values: the platform logs each exception that crosses from one
 * isolate to another as an error of the service.
 */
export type BindingAnswer<T> = { readonly value: T } | { readonly problem: string };

/** A response with the two fields that it loses on its way into the isolate. */
export interface FetchedResponse {
  readonly response: Response;
  readonly url: string;
  readonly redirected: boolean;
}

/**
 * The service's side of a program's bindings, called over RPC with whatever the program passed. `call` never rejects.
 * The two functions are own properties, which RPC does not expose to the program.
 */
export interface HostBindings {
  readonly revoke: () => void;
  readonly isOverdrawn: () => boolean;
  call(method: unknown, args: unknown): Promise<BindingAnswer<unknown>>;
}

export interface RunReport {
  readonly status: "success" | "failed";
  /** The returned value as JSON; for a failure, the reason in words for the customer. */
  readonly result: string;
  readonly logs: readonly LogLine[];
  readonly durationMs: number;
  /** The processor time of the run's own process, in milliseconds; 0 where it has none. */
  readonly ranMs: number;
  /** Whether the run had to be ended by force, because it passed a limit and did not yield. */
  readonly isKilled: boolean;
}

/** Disposing of a runner frees isolates that it keeps for later runs; runs in progress finish. */
export interface Runner extends Partial<Disposable> {
  /** Makes the script ready to run. Idempotent. Rejects when that fails. Absent where scripts come with their runs. */
  deploy?(script: Script): Promise<void>;
  /** Removes a script that no later run needs; runs in progress finish. Idempotent. */
  remove?(script: ScriptKey): Promise<void>;
  /**
   * Runs the script once with its input and its bindings, which are revoked at the end. Every behaviour of
   * the script results in a report; rejects only when the script could not be started, and then none of it has run.
   */
  run(script: Script, input: RunInput, bindings: HostBindings, limits: RunLimits): Promise<RunReport>;
}

export interface PlatformLimits {
  readonly cpuMs: number;
  readonly subRequests: number;
}

/** The bindings count calls and explain the limit; the platform's own count must not be reached first. */
const SUBREQUESTS_PER_CALL = 2;

export const platformLimits = ({ cpuMs, calls }: Pick<RunLimits, "cpuMs" | "calls">): PlatformLimits => ({
  cpuMs,
  subRequests: SUBREQUESTS_PER_CALL * calls,
});
