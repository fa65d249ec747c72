/** The port to where customers' code runs: what the rest of the service knows of it, whichever runner stands behind. */
import type { RunKit } from "../../workflows/run-bindings.ts";
import type { LogLine } from "../../workflows/schema.ts";

/** Code that is ready to run, and whose it is. */
export interface Script {
  readonly accountId: string;
  readonly workflowId: string;
  /** What `compile` made of the customer's source. */
  readonly module: string;
  /** Names all of `module` that decides behaviour: two scripts with one hash are one. */
  readonly hash: string;
}

/** Bounds of one run (decisions section 5). */
export interface RunLimits {
  /** For everything, in milliseconds. */
  readonly wallMs: number;
  /** Processor time where the platform measures it, in milliseconds. */
  readonly cpuMs: number;
  /** Running without a pause, where the platform measures nothing, in milliseconds. */
  readonly turnMs: number;
  /** Calls of the bindings, requests by `fetch` among them. */
  readonly calls: number;
  readonly resultBytes: number;
  readonly logBytes: number;
  /** What the program may hold at once, in mebibytes. */
  readonly memoryMb: number;
}

/** What came of a run. */
export interface RunReport {
  readonly status: "success" | "failed";
  /** JSON on success; on failure what went wrong, in words for the customer. */
  readonly result: string;
  readonly logs: readonly LogLine[];
  readonly durationMs: number;
  /** Of these it ran without waiting, in this process; 0 where the platform bounds processor time itself. */
  readonly ranMs: number;
}

export interface Runner {
  /** Makes the script ready to run; may be repeated. Rejects when it cannot be. */
  deploy(script: Script): Promise<void>;
  /** Forgets a script that no run will ask for any more; runs of it that are in progress finish. May be repeated. */
  remove(script: Pick<Script, "accountId" | "workflowId" | "hash">): Promise<void>;
  /**
   * Runs the script once with an event (its JSON) and what it may do, which ends with the run. Whatever the script
   * does is a report; rejects only when it could not be started, and then none of it has run.
   */
  run(script: Script, event: string, kit: RunKit, limits: RunLimits): Promise<RunReport>;
}
