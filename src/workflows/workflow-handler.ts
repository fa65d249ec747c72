/** Gives a workflow its events: reads its row, runs its code with what it may do, and tells how that went. */

import { type Env, workflowDevTargets } from "../config.ts";
import { CachedRow } from "../delivery/cached-row.ts";
import type { DeliveryHandler, DeliveryOutcome, HandlerState } from "../delivery/handler.ts";
import type { OutgoingEvent } from "../delivery/subscriber-port.ts";
import { openBlobs } from "../files/blobs.ts";
import { openTenant, type Tenant } from "../platform/d1.ts";
import { logError } from "../platform/log.ts";
import { presentTime } from "../platform/time.ts";
import { roomGateway } from "../realtime/gateway.ts";
import { runLimits } from "../sandbox/runners/run-limits.ts";
import type { RunLimits, Runner, RunReport } from "../sandbox/runners/runner.ts";
import { selectRunner } from "../sandbox/runners/select-runner.ts";
import { RunCounter } from "./run-counter.ts";
import { type KitScope, RunKit } from "./run-kit.ts";
import type { LoggedRun } from "./schema.ts";
import { selectRunnable } from "./store.ts";
import type { RunnableWorkflow } from "./table.ts";

/** How long to wait before the next try when the database fails, or nothing can be started. */
const PAUSE_MS = 5_000;
/** When nothing could be started for so long, a run that cannot be started has failed. */
export const MAX_STUCK_MS = 5 * 60_000;
const NOT_STARTED = "The workflow could not be started";

/** A run that took too much of the processor is followed by this multiple of its time, in which none begins. */
const REST_FACTOR = 4;

type Ended = Extract<DeliveryOutcome, { type: "delivered" | "failed" }>;

/** Kept with the workflow's object, as JSON. */
interface Memory {
  /** Epoch milliseconds since when nothing could be started; null while runs are. */
  readonly stuckSince: number | null;
}

export class WorkflowHandler implements DeliveryHandler {
  readonly interruption =
    "The run was interrupted: the service was restarted while it ran. It is not repeated, so that nothing happens twice.";
  readonly #tenant: Tenant;
  readonly #env: Env;
  readonly #id: string;
  readonly #now: () => number;
  readonly #memory: HandlerState;
  readonly #row: CachedRow<RunnableWorkflow>;
  readonly #tally: RunCounter;
  #runner: Runner | null = null;

  constructor(env: Env, key: { accountId: string; id: string }, now: () => number, memory: HandlerState) {
    this.#tenant = openTenant(env.DB, key.accountId);
    this.#env = env;
    this.#id = key.id;
    this.#now = now;
    this.#memory = memory;
    this.#row = new CachedRow(async () => {
      const [[row]] = await this.#tenant.db.run([selectRunnable(this.#tenant, key.id)]);
      return row ?? null;
    }, now);
    this.#tally = new RunCounter(this.#tenant, now, (message, error) => this.#log(message, error));
  }

  requireVersion(version: number): void {
    this.#row.requireVersion(version);
  }

  async deliver(envelope: OutgoingEvent): Promise<DeliveryOutcome> {
    let row: RunnableWorkflow | null;
    try {
      row = await this.#row.get();
    } catch (error) {
      this.#log("The database failed before a run", error);
      return this.#postponed;
    }
    if (row === null) return { type: "orphaned" };
    if (row.enabled === 0) return { type: "unwanted" };
    if (row.problemAtRun !== null) {
      this.#tally.count("failed");
      return { type: "failed", attempt: null, error: parseProblem(row.problemAtRun).message };
    }
    const startedAt = this.#now();
    const run = await this.#run(row, envelope).catch((error: unknown) => {
      this.#log(NOT_STARTED, error);
      return null;
    });
    if (run === null) return this.#giveUpOrPostpone();
    this.#remember({ stuckSince: null });
    this.#tally.count(run.report.status);
    return { ...outcomeOf(run.report, startedAt), restMs: run.restMs };
  }

  /** Rejects when nothing was run. */
  async #run(
    { accountId, id: workflowId, module, hash, origin }: RunnableWorkflow,
    { roomId, body }: OutgoingEvent,
  ): Promise<{ readonly report: RunReport; readonly restMs: number }> {
    const limits = runLimits(this.#env);
    this.#runner ??= selectRunner(this.#env);
    const kit = this.#openKit({ accountId, workflowId, roomId, origin, calls: limits.calls });
    const report = await this.#runner.run({ accountId, workflowId, module, hash }, body, kit, limits);
    return { report, restMs: restAfter(report, limits) };
  }

  /** What one run may do, in the room of its event. */
  #openKit(scope: KitScope): RunKit {
    return new RunKit(scope, {
      db: this.#tenant.db,
      rooms: roomGateway(this.#env),
      blobs: openBlobs(this.#env.FILES),
      fetch: (...args: Parameters<typeof fetch>) => fetch(...args),
      devTargets: workflowDevTargets(this.#env),
      now: this.#now,
      log: (message, error) => this.#log(message, error),
    });
  }

  #giveUpOrPostpone(): DeliveryOutcome {
    const now = this.#now();
    const stuckSince = parseMemory(this.#memory.read()).stuckSince ?? now;
    this.#remember({ stuckSince });
    return now - stuckSince < MAX_STUCK_MS
      ? this.#postponed
      : { type: "failed", attempt: null, error: NOT_STARTED };
  }

  get #postponed(): DeliveryOutcome {
    return { type: "postponed", until: this.#now() + PAUSE_MS, why: NOT_STARTED };
  }

  #remember({ stuckSince }: Memory): void {
    if (parseMemory(this.#memory.read()).stuckSince === stuckSince) return;
    this.#memory.write(JSON.stringify({ stuckSince }));
  }

  #log(message: string, error?: unknown): void {
    logError(message, { account: this.#tenant.accountId, workflow: this.#id }, error);
  }
}

/**
 * Where programs share one thread with everybody, one that takes more than production gives it pays with rest: its
 * workflow has a fifth of the time at most, whatever waits for it.
 */
const restAfter = ({ ranMs }: RunReport, { cpuMs }: RunLimits): number =>
  ranMs > cpuMs ? REST_FACTOR * ranMs : 0;

function outcomeOf({ status, result, logs, durationMs }: RunReport, startedAt: number): Ended {
  const isSuccess = status === "success";
  const attempt: LoggedRun = {
    attempted_at: presentTime(startedAt),
    duration_ms: durationMs,
    result: isSuccess ? result : null,
    logs,
  };
  return isSuccess ? { type: "delivered", attempt } : { type: "failed", attempt, error: result };
}

/** As {@link WorkflowHandler} wrote it, if it did yet. */
const parseMemory = (json: string): Memory => ({
  stuckSince: null,
  ...(JSON.parse(json) as Partial<Memory>),
});

/** As the command that saved the code wrote it. */
const parseProblem = (json: string): { message: string } => JSON.parse(json) as { message: string };
