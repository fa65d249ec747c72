/** Delivers events to a workflow: reads its row, runs its code with bindings for one room, and reports the outcome. */

import { depthOf } from "@atrium/contract/resources/present-event.ts";
import { presentTime } from "@atrium/contract/time.ts";
import type { RunCounts } from "../../delivery/event-log/event-log-store.ts";
import { shardOf } from "../../delivery/event-log/shards.ts";
import type { OutgoingEvent, SubscriberKey } from "../../delivery/outbox/subscription.ts";
import { relayEvents } from "../../delivery/outbox-relay.ts";
import type {
  DeliveryHandler,
  DeliveryOutcome,
  HandledEvent,
  HandlerState,
  Pace,
  Timetable,
} from "../../delivery/subscriber/handler.ts";
import { openDelivery } from "../../delivery/subscribers.ts";
import type { Env } from "../../env.ts";
import { CachedRow } from "../../platform/cache.ts";
import { jwtSecrets, ownHosts, quotaDefaults, runLimits } from "../../platform/config.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import { openTenant } from "../../platform/d1/databases.ts";
import { lazily } from "../../platform/lazily.ts";
import { targetFetch } from "../../platform/network.ts";
import { readSetting } from "../../platform/settings.ts";
import { DATA_SETS } from "../../platform/telemetry/data-sets.ts";
import { metrics, reportFailure, writeMetrics } from "../../platform/telemetry/telemetry.ts";
import { readTrace } from "../../platform/trace.ts";
import { roomGateway } from "../../room/host/gateway.ts";
import type { RunLimits, RunReport, Secret } from "../../sandbox/runners/runner.ts";
import { selectRunner } from "../../sandbox/runners/select-runner.ts";
import { openBlobs } from "../files/storage/blobs.ts";
import type { LoggedRun } from "./present.ts";
import type { RunPorts } from "./run-bindings.ts";
import { continueStreak, isExhausted, planRetry, RunStateStore, WorkflowSuspension } from "./run-state.ts";
import { OpenSecrets, redact, secretSealer } from "./sealed-secrets.ts";
import { selectRunnable } from "./store.ts";
import type { RunnableWorkflow } from "./table.ts";
import { timetableOf } from "./timetable.ts";

/** Counts a workflow's runs for the metrics: one call at a time, each with all runs that ended meanwhile. */
class RunCounter {
  readonly #send: (runs: RunCounts) => Promise<void>;
  #counted = { runs: 0, failedRuns: 0 };
  #isCounting = false;

  /** `send` never rejects. */
  constructor(send: (runs: RunCounts) => Promise<void>) {
    this.#send = send;
  }

  /** Counts a finished run in the background. A crash may lose the latest counts. */
  count(status: "success" | "failed"): void {
    this.#counted.runs += 1;
    if (status === "failed") this.#counted.failedRuns += 1;
    if (!this.#isCounting) void this.#countAll();
  }

  async #countAll(): Promise<void> {
    this.#isCounting = true;
    while (this.#counted.runs > 0) {
      const runs = this.#counted;
      this.#counted = { runs: 0, failedRuns: 0 };
      await this.#send(runs);
    }
    this.#isCounting = false;
  }
}

/** The pause of deliveries when the database fails or a run cannot be started. */
const PAUSE_MS = 5_000;
/** When no run could be started for this long, runs without retries that cannot be started fail instead of waiting. */
const MAX_STUCK_MS = 5 * 60_000;
const MAX_IN_FLIGHT = 6;
const NOT_STARTED = "The workflow could not be started";
const DISABLED = "The workflow was disabled";
const NO_FURTHER = "The run failed, and the workflow has no retries any more";
const INTERRUPTED =
  "The run was interrupted by a restart of the service. It is not repeated: a workflow runs at most once per event";

/** A run is started for events up to this depth: more in a row look like a loop. */
const MAX_CAUSE_DEPTH = 5;

const runBindings = lazily(() => import("./run-bindings.ts"));

export class WorkflowHandler implements DeliveryHandler {
  readonly #tenant: Tenant;
  readonly #env: Env;
  readonly #id: string;
  readonly #now: () => number;
  readonly #state: RunStateStore;
  readonly #row: CachedRow<RunnableWorkflow>;
  readonly #runCounter: RunCounter;
  readonly #secrets: OpenSecrets;
  readonly timetable: Timetable;
  readonly #suspension: WorkflowSuspension;
  #shared: ReturnType<typeof share> | null = null;

  constructor(
    env: Env,
    key: Pick<SubscriberKey, "accountId" | "id">,
    now: () => number,
    state: HandlerState,
  ) {
    this.#tenant = openTenant(env, key.accountId);
    this.#env = env;
    this.#id = key.id;
    this.#now = now;
    this.#state = new RunStateStore(state);
    this.#row = new CachedRow(async () => {
      const [[row]] = await this.#tenant.db.run([selectRunnable(this.#tenant, key.id)]);
      return row ?? null;
    }, now);
    this.timetable = timetableOf(this.#tenant, key.id);
    this.#runCounter = new RunCounter(async (runs) => {
      const log = openDelivery(env).eventLogs(key.accountId, shardOf(key.id));
      await log.countRuns(runs).catch((error: unknown) => this.#log("Runs could not be counted", error));
    });
    const log = (message: string, error?: unknown) => this.#log(message, error);
    this.#secrets = new OpenSecrets(() => secretSealer(jwtSecrets(env)), log);
    const ports = { env, tenant: this.#tenant, now, log, row: this.#row, state: this.#state };
    this.#suspension = new WorkflowSuspension(ports);
  }

  readonly batch = null;

  readonly interruption = INTERRUPTED;

  /** True if the workflow has retries. An absent row is harmless: nothing runs, and the attempt reports why. */
  async mayRepeat(): Promise<boolean> {
    const row = await this.#row.get().catch(() => null);
    return row === null || row.retries > 0;
  }

  /** Runs go one at a time after a killed one, so that a second one decides. */
  get pace(): Pace {
    const { streak } = this.#state.read();
    return { maxInFlight: streak === null ? MAX_IN_FLIGHT : 1, pausedUntil: 0 };
  }

  requireVersion(version: number): void {
    this.#row.requireVersion(version);
  }

  release(): void {
    this.#shared?.runner[Symbol.dispose]?.();
  }

  async deliver(event: HandledEvent, attempts: number): Promise<DeliveryOutcome> {
    let row: RunnableWorkflow | null;
    try {
      row = await this.#row.get();
    } catch (error) {
      this.#log("The database failed before a run", error, event);
      return this.#postponed;
    }
    if (row === null) return { type: "orphaned" };
    if (row.enabled === 0) {
      if (!(await this.#suspension.isNotified(row))) return this.#postponed;
      return row.disabledReason === null
        ? { type: "disabled", error: null }
        : { type: "suspended", why: DISABLED };
    }
    if (isExhausted(this.#state.read().streak, row.updatedAt)) {
      return (await this.#suspension.disable(row, "killed"))
        ? { type: "suspended", why: DISABLED }
        : this.#postponed;
    }
    const depth = depthOf(event.body);
    if (depth > MAX_CAUSE_DEPTH) return this.#fail(loopAt(depth));
    if (row.problemAtRun !== null) return this.#fail(parseProblem(row.problemAtRun).message);
    if (attempts > row.retries) return { type: "failed", attempt: null, error: NO_FURTHER };
    // Retries were turned off since `mayRepeat`: the event has to be marked first.
    if (!event.isOnce && row.retries === 0)
      return { type: "postponed", until: this.#now(), why: NOT_STARTED };
    const secrets = await this.#secrets.open(row);
    if (typeof secrets === "string") return this.#fail(secrets);
    const startedAt = this.#now();
    const run = await this.#run(row, event, attempts + 1, secrets).catch((error: unknown) => {
      this.#log(NOT_STARTED, error, event);
      return null;
    });
    if (run === null) return this.#failOrPostpone(row);
    const { isKilled, status } = run.report;
    const ended = { isKilled, version: row.updatedAt, startedAt, endedAt: this.#now() };
    const streak = continueStreak(this.#state.read().streak, ended);
    this.#state.change({ stuckSince: null, streak });
    this.#runCounter.count(status);
    measureRun(run.report, event, attempts, startedAt);
    writeMetrics(this.#env);
    // If this fails, the next delivery disables it.
    if (isExhausted(streak, row.updatedAt)) await this.#suspension.disable(row, "killed");
    const outcome = outcomeOf(run.report, row.version, startedAt);
    const at = event.isOnce ? null : planRetry(attempts + 1, row.retries, this.#now());
    if (outcome.type === "delivered" || at === null) return { ...outcome, cooldownMs: run.cooldownMs };
    return { ...outcome, type: "retry", at, cooldownMs: run.cooldownMs };
  }

  /** Rejects when the run could not be started. The workflow pauses for `cooldownMs` after it. */
  async #run(
    { accountId, id: workflowId, module, hash, origin }: RunnableWorkflow,
    { eventId, roomId, body, trace }: OutgoingEvent,
    attempt: number,
    secrets: readonly Secret[],
  ): Promise<{ readonly report: RunReport; readonly cooldownMs: number }> {
    const { RunBindings } = await runBindings();
    this.#shared ??= share(this.#env, this.#tenant, this.#now);
    const { limits, runner, ports } = this.#shared;
    const bindings = new RunBindings(
      {
        accountId,
        workflowId,
        roomId,
        eventId,
        origin,
        depth: depthOf(body),
        trace: readTrace(trace),
        calls: limits.calls,
      },
      { ...ports, log: (message, error) => this.#log(message, error, { trace: trace ?? null }) },
    );
    const input = { event: body, attempt, secrets };
    const report = await runner.run({ accountId, workflowId, module, hash }, input, bindings, limits);
    return { report: redact(report, secrets), cooldownMs: cooldownAfter(report, limits) };
  }

  /** A run that could not start, and will not. */
  #fail(error: string): DeliveryOutcome {
    this.#runCounter.count("failed");
    return { type: "failed", attempt: null, error };
  }

  async suspend(): Promise<void> {
    const row = await this.#row.get();
    if (row === null || row.enabled === 0) return;
    await this.#suspension.suspend(row, "backlogged");
  }

  /** Does nothing: the executions show the load, and at the bound `disabled_reason` says why the workflow is off. */
  async reportBacklog(): Promise<void> {}

  #failOrPostpone({ retries }: RunnableWorkflow): DeliveryOutcome {
    const now = this.#now();
    const stuckSince = this.#state.read().stuckSince ?? now;
    this.#state.change({ stuckSince });
    return retries > 0 || now - stuckSince < MAX_STUCK_MS
      ? this.#postponed
      : { type: "failed", attempt: null, error: NOT_STARTED };
  }

  get #postponed(): DeliveryOutcome {
    return { type: "postponed", until: this.#now() + PAUSE_MS, why: NOT_STARTED };
  }

  #log(message: string, error?: unknown, { trace }: Pick<OutgoingEvent, "trace"> = {}): void {
    const request = readTrace(trace)?.requestId;
    reportFailure(
      "delivery",
      message,
      { account: this.#tenant.accountId, workflow: this.#id, request },
      error,
    );
  }
}

const loopAt = (depth: number): string =>
  `Not started: its event has depth ${depth}, so actions of workflows follow each other in what looks like a loop. At most ${MAX_CAUSE_DEPTH} do`;

const parseProblem = (json: string): { message: string } => JSON.parse(json) as { message: string };

/** The settings, the runner and the ports that all runs of the workflow share. Throws where no runner is set up. */
function share(env: Env, tenant: Tenant, now: () => number) {
  const [rooms, objects] = [roomGateway(env), openDelivery(env)];
  const devTargets = readSetting(env, "WORKFLOW_DEV_TARGETS");
  const ports: Omit<RunPorts, "log"> = {
    db: tenant.db,
    rooms,
    relayEvents: ({ db, log, defer }, rows) => relayEvents({ db, log, defer, rooms, ...objects }, rows),
    blobs: openBlobs(env.FILES),
    quotaDefaults: quotaDefaults(env),
    fetch: targetFetch(env.PUBLIC_NETWORK, devTargets),
    devTargets,
    ownHosts: ownHosts(env),
    now,
  };
  return { limits: runLimits(env), runner: selectRunner(env), ports };
}

/** Counts a run that began at `startedAt` (epoch ms). A run on request has not waited. */
function measureRun(
  { status, durationMs, ranMs, isKilled }: RunReport,
  { occurredAt, replayId }: HandledEvent,
  attempts: number,
  startedAt: number,
): void {
  const series = metrics.series(DATA_SETS.runs, { outcome: status });
  series.add("processor_ms", ranMs);
  series.add("killed", Number(isKilled));
  series.time("duration", durationMs);
  if (attempts === 0 && replayId === null) series.time("wait", Math.max(0, startedAt - occurredAt));
}

/** Factor of the cooldown after a run that used too much processor time. */
const COOLDOWN_FACTOR = 4;

type Ended =
  | Extract<DeliveryOutcome, { type: "delivered" }>
  | { readonly type: "failed"; readonly attempt: LoggedRun; readonly error: string };

/**
 * Cooldown after a run that used a good part of its processor time. On a machine that programs share, it keeps a
 * workflow below a fifth of a core.
 */
const cooldownAfter = ({ ranMs }: RunReport, { processCpuMs }: RunLimits): number =>
  ranMs > processCpuMs / COOLDOWN_FACTOR ? COOLDOWN_FACTOR * ranMs : 0;

/** The outcome of a run of this version, without retries. */
function outcomeOf(
  { status, result, logs, durationMs }: RunReport,
  version: number,
  startedAt: number,
): Ended {
  const isSuccess = status === "success";
  const attempt: LoggedRun = {
    attempted_at: presentTime(startedAt),
    duration_ms: durationMs,
    result: isSuccess ? result : null,
    version,
    logs,
  };
  return isSuccess ? { type: "delivered", attempt } : { type: "failed", attempt, error: result };
}
