/** Delivers events to a workflow: reads its row, runs its code with bindings for one room, and reports the outcome. */
import { type Env, ownHosts, quotaDefaults, runLimits, workflowDevTargets } from "../config.ts";
import type { DeliveryHandler, DeliveryOutcome, HandlerState, Pace } from "../delivery/handler.ts";
import type { OutgoingEvent } from "../delivery/port/subscriber-port.ts";
import { openBlobs } from "../files/storage/blobs.ts";
import { CachedRow } from "../platform/cached-row.ts";
import { openTenant, type Tenant } from "../platform/d1.ts";
import { logError } from "../platform/log.ts";
import { presentTime } from "../platform/time.ts";
import { roomGateway } from "../realtime/gateway.ts";
import type { RunLimits, Runner, RunReport } from "../sandbox/runners/runner.ts";
import { selectRunner } from "../sandbox/runners/select-runner.ts";
import type { LoggedRun } from "./execution-schema.ts";
import { RunBindings, type RunScope } from "./run-bindings.ts";
import { RunCounter } from "./run-counter.ts";
import { selectRunnable, suspendWorkflow } from "./store.ts";
import type { RunnableWorkflow } from "./table.ts";

/** How long deliveries pause when the database fails or a run cannot be started. */
const PAUSE_MS = 5_000;
/** When no run could be started for this long, runs that cannot be started fail instead of waiting. */
export const MAX_STUCK_MS = 5 * 60_000;
/** How many runs may be in flight at once. */
const MAX_IN_FLIGHT = 6;
const NOT_STARTED = "The workflow could not be started";

/** After a run that used too much processor time, the workflow rests for this multiple of that time. */
const REST_FACTOR = 4;

type Ended = Extract<DeliveryOutcome, { type: "delivered" | "failed" }>;

/** What the workflow's object keeps for its handler. */
interface State {
  /** Since when no run could be started (epoch ms); null while runs start. */
  readonly stuckSince: number | null;
}

export class WorkflowHandler implements DeliveryHandler {
  readonly interruption =
    "The run was interrupted by a restart of the service. It is not repeated: a workflow runs at most once per event";
  readonly #tenant: Tenant;
  readonly #env: Env;
  readonly #id: string;
  readonly #now: () => number;
  readonly #state: HandlerState;
  readonly #row: CachedRow<RunnableWorkflow>;
  readonly #runCounter: RunCounter;
  #runner: Runner | null = null;

  constructor(env: Env, key: { accountId: string; id: string }, now: () => number, state: HandlerState) {
    this.#tenant = openTenant(env.DB, key.accountId);
    this.#env = env;
    this.#id = key.id;
    this.#now = now;
    this.#state = state;
    this.#row = new CachedRow(async () => {
      const [[row]] = await this.#tenant.db.run([selectRunnable(this.#tenant, key.id)]);
      return row ?? null;
    }, now);
    this.#runCounter = new RunCounter(this.#tenant, now, (message, error) => this.#log(message, error));
  }

  get pace(): Pace {
    return { maxInFlight: MAX_IN_FLIGHT, pausedUntil: 0 };
  }

  requireVersion(version: number): void {
    this.#row.requireVersion(version);
  }

  async deliver(event: OutgoingEvent): Promise<DeliveryOutcome> {
    let row: RunnableWorkflow | null;
    try {
      row = await this.#row.get();
    } catch (error) {
      this.#log("The database failed before a run", error);
      return this.#postponed;
    }
    if (row === null) return { type: "orphaned" };
    if (row.enabled === 0) {
      return row.disabledReason === null
        ? { type: "disabled", error: null }
        : { type: "suspended", why: "The workflow was disabled" };
    }
    if (row.problemAtRun !== null) {
      this.#runCounter.count("failed");
      return { type: "failed", attempt: null, error: parseProblem(row.problemAtRun).message };
    }
    const startedAt = this.#now();
    const run = await this.#run(row, event).catch((error: unknown) => {
      this.#log(NOT_STARTED, error);
      return null;
    });
    if (run === null) return this.#failOrPostpone();
    this.#writeState({ stuckSince: null });
    this.#runCounter.count(run.report.status);
    return { ...outcomeOf(run.report, startedAt), restMs: run.restMs };
  }

  async suspend(): Promise<void> {
    const row = await this.#row.get();
    if (row === null || row.enabled === 0) return;
    this.#row.invalidate();
    await this.#tenant.db.run([suspendWorkflow(this.#tenant, this.#id, row.updatedAt, this.#now())]);
  }

  /** Its executions show how much it runs; at the bound, `disabled_reason` says why it does no longer. */
  async reportBacklog(): Promise<void> {}

  /** Rejects when the run could not be started. */
  async #run(
    { accountId, id: workflowId, module, hash, origin }: RunnableWorkflow,
    { roomId, body }: OutgoingEvent,
  ): Promise<{ readonly report: RunReport; readonly restMs: number }> {
    const limits = runLimits(this.#env);
    this.#runner ??= selectRunner(this.#env);
    const bindings = this.#openBindings({ accountId, workflowId, roomId, origin, calls: limits.calls });
    const report = await this.#runner.run({ accountId, workflowId, module, hash }, body, bindings, limits);
    return { report, restMs: restAfter(report, limits) };
  }

  /** What one run may use, in the room of its event. */
  #openBindings(scope: RunScope): RunBindings {
    return new RunBindings(scope, {
      db: this.#tenant.db,
      rooms: roomGateway(this.#env),
      blobs: openBlobs(this.#env.FILES),
      quotaDefaults: quotaDefaults(this.#env),
      fetch: (...args: Parameters<typeof fetch>) => fetch(...args),
      devTargets: workflowDevTargets(this.#env),
      ownHosts: ownHosts(this.#env),
      now: this.#now,
      log: (message, error) => this.#log(message, error),
    });
  }

  #failOrPostpone(): DeliveryOutcome {
    const now = this.#now();
    const stuckSince = parseState(this.#state.read()).stuckSince ?? now;
    this.#writeState({ stuckSince });
    return now - stuckSince < MAX_STUCK_MS
      ? this.#postponed
      : { type: "failed", attempt: null, error: NOT_STARTED };
  }

  get #postponed(): DeliveryOutcome {
    return { type: "postponed", until: this.#now() + PAUSE_MS, why: NOT_STARTED };
  }

  #writeState({ stuckSince }: State): void {
    if (parseState(this.#state.read()).stuckSince === stuckSince) return;
    this.#state.write(JSON.stringify({ stuckSince }));
  }

  #log(message: string, error?: unknown): void {
    logError(message, { account: this.#tenant.accountId, workflow: this.#id }, error);
  }
}

/**
 * Where programs share one thread, a workflow whose run exceeds production's processor time rests afterwards, so that
 * it uses a fifth of the thread at most.
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

/** As {@link WorkflowHandler} wrote it; not stuck before the first write. */
const parseState = (json: string): State => ({
  stuckSince: null,
  ...(JSON.parse(json) as Partial<State>),
});

/** As the command that saved the code wrote it. */
const parseProblem = (json: string): { message: string } => JSON.parse(json) as { message: string };
