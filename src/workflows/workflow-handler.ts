/** Delivers events to a workflow: reads its row, runs its code with bindings for one room, and reports the outcome. */

import { type Env, jwtSecrets, ownHosts, quotaDefaults, runLimits, workflowDevTargets } from "../config.ts";
import { announceChange } from "../delivery/announce-change.ts";
import type {
  DeliveryHandler,
  DeliveryOutcome,
  HandledEvent,
  HandlerState,
  Pace,
} from "../delivery/handler.ts";
import { relayEvents } from "../delivery/outbox-relay.ts";
import { depthOf, MAX_CAUSE_DEPTH } from "../delivery/port/event-cause.ts";
import type { OutgoingEvent } from "../delivery/port/subscriber-port.ts";
import { fanOut, subscriberGateway } from "../delivery/subscribers.ts";
import { presentWorkflowDisabled } from "../delivery/workflow-disabled.ts";
import { eventLogGateway } from "../event-log/shards/event-log-gateway.ts";
import { openBlobs } from "../files/storage/blobs.ts";
import { notifyOwners } from "../mail/notices.ts";
import { openTenant } from "../placement/databases.ts";
import { CachedRow } from "../platform/cached-row.ts";
import type { Tenant } from "../platform/d1.ts";
import { logError } from "../platform/log.ts";
import { readTrace, storeTrace } from "../platform/trace.ts";
import { roomGateway } from "../realtime/gateway.ts";
import type { Runner, RunReport, Secret } from "../sandbox/runners/runner.ts";
import { selectRunner } from "../sandbox/runners/select-runner.ts";
import { RUNS } from "../telemetry/data-sets.ts";
import { metrics, writeMetrics } from "../telemetry/telemetry.ts";
import { parseState, type State } from "./handler-state.ts";
import { disabledNotice } from "./notices.ts";
import { redact } from "./redaction.ts";
import { RunBindings, type RunScope } from "./run-bindings.ts";
import { RunCounter } from "./run-counter.ts";
import { outcomeOf, restAfter } from "./run-outcome.ts";
import { planRetry } from "./run-retries.ts";
import { continueStreak, isExhausted } from "./run-streak.ts";
import { OpenSecrets, secretSealer } from "./sealed-secrets.ts";
import { selectRunnable, suspendWorkflow } from "./store.ts";
import type { DisabledReason, RunnableWorkflow } from "./table.ts";
import { WorkflowTimetable } from "./timetable.ts";

/** How long deliveries pause when the database fails or a run cannot be started. */
const PAUSE_MS = 5_000;
/** When no run could be started for this long, runs without retries that cannot be started fail instead of waiting. */
export const MAX_STUCK_MS = 5 * 60_000;
/** How many runs may be in flight at once. */
const MAX_IN_FLIGHT = 6;
const NOT_STARTED = "The workflow could not be started";
const DISABLED = "The workflow was disabled";
const NO_FURTHER = "The run failed, and the workflow has no retries any more";
const INTERRUPTED =
  "The run was interrupted by a restart of the service. It is not repeated: a workflow runs at most once per event";

export class WorkflowHandler implements DeliveryHandler {
  readonly #tenant: Tenant;
  readonly #env: Env;
  readonly #id: string;
  readonly #now: () => number;
  readonly #state: HandlerState;
  readonly #row: CachedRow<RunnableWorkflow>;
  readonly #runCounter: RunCounter;
  readonly #secrets: OpenSecrets;
  readonly timetable: WorkflowTimetable;
  #runner: Runner | null = null;

  constructor(env: Env, key: { accountId: string; id: string }, now: () => number, state: HandlerState) {
    this.#tenant = openTenant(env, key.accountId);
    this.#env = env;
    this.#id = key.id;
    this.#now = now;
    this.#state = state;
    this.#row = new CachedRow(async () => {
      const [[row]] = await this.#tenant.db.run([selectRunnable(this.#tenant, key.id)]);
      return row ?? null;
    }, now);
    this.timetable = new WorkflowTimetable(this.#tenant, key.id);
    this.#runCounter = new RunCounter({
      countRuns: (runs) => eventLogGateway(env).countRuns(key.accountId, key.id, runs),
      log: (message, error) => this.#log(message, error),
    });
    this.#secrets = new OpenSecrets(() => secretSealer(jwtSecrets(env)));
  }

  /** A run has one event. */
  readonly batch = null;

  readonly interruption = INTERRUPTED;

  /** With retries. Without a row nothing runs: the attempt itself reports why. */
  async mayRepeat(): Promise<boolean> {
    const row = await this.#row.get().catch(() => null);
    return row === null || row.retries > 0;
  }

  /** After a run that was killed one runs at a time, so that a second one decides. */
  get pace(): Pace {
    const { streak } = this.#readState();
    return { maxInFlight: streak === null ? MAX_IN_FLIGHT : 1, pausedUntil: 0 };
  }

  requireVersion(version: number): void {
    this.#row.requireVersion(version);
  }

  release(): void {
    this.#runner?.[Symbol.dispose]();
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
      if (!(await this.#isNotified(row))) return this.#postponed;
      return row.disabledReason === null
        ? { type: "disabled", error: null }
        : { type: "suspended", why: DISABLED };
    }
    if (isExhausted(this.#readState().streak, row.updatedAt)) {
      return (await this.#disable(row, "killed")) ? { type: "suspended", why: DISABLED } : this.#postponed;
    }
    const depth = depthOf(event.body);
    if (depth > MAX_CAUSE_DEPTH) return this.#fail(loopAt(depth));
    if (row.problemAtRun !== null) return this.#fail(parseProblem(row.problemAtRun).message);
    if (attempts > row.retries) return { type: "failed", attempt: null, error: NO_FURTHER };
    // Its retries ended since `mayRepeat`: it has to be marked first.
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
    const streak = continueStreak(this.#readState().streak, ended);
    this.#writeState({ ...this.#readState(), stuckSince: null, streak });
    this.#runCounter.count(status);
    this.#measure(run.report, event, attempts, startedAt);
    // If this fails, the next delivery disables it.
    if (isExhausted(streak, row.updatedAt)) await this.#disable(row, "killed");
    const outcome = outcomeOf(run.report, row.version, startedAt);
    const at = event.isOnce ? null : planRetry(attempts + 1, row.retries, this.#now());
    if (outcome.type === "delivered" || at === null) return { ...outcome, restMs: run.restMs };
    return { ...outcome, type: "retry", at, restMs: run.restMs };
  }

  /** Counts a run. What is run again on request has not waited. */
  #measure(
    { status, durationMs, ranMs, isKilled }: RunReport,
    { occurredAt, replayId }: HandledEvent,
    attempts: number,
    startedAt: number,
  ): void {
    const series = metrics.series(RUNS, { outcome: status });
    series.add("processor_ms", ranMs);
    series.add("killed", Number(isKilled));
    series.time("duration", durationMs);
    if (attempts === 0 && replayId === null) series.time("wait", Math.max(0, startedAt - occurredAt));
    writeMetrics(this.#env);
  }

  /** A run that could not start, and will not. */
  #fail(error: string): DeliveryOutcome {
    this.#runCounter.count("failed");
    return { type: "failed", attempt: null, error };
  }

  async suspend(): Promise<void> {
    const row = await this.#row.get();
    if (row === null || row.enabled === 0) return;
    await this.#suspend(row, "backlogged");
  }

  /** True when it is done: the row says so from now on, and the organization was notified. */
  async #disable(row: RunnableWorkflow, reason: DisabledReason): Promise<boolean> {
    try {
      await this.#suspend(row, reason);
      return true;
    } catch (error) {
      this.#log("A workflow could not be disabled", error);
      return false;
    }
  }

  /** Rejects when that must be tried again. */
  async #suspend(row: RunnableWorkflow, reason: DisabledReason): Promise<void> {
    this.#row.invalidate();
    const now = this.#now();
    const [changed] = await this.#tenant.db.run([
      suspendWorkflow(this.#tenant, this.#id, row.updatedAt, reason, now),
    ]);
    if (changed.length === 0) return;
    const { accountId } = this.#tenant;
    const log = (message: string, error: unknown) => this.#log(message, error);
    await announceChange({ accountId, subscribers: subscriberGateway(this.#env), log });
    this.#writeState({ ...this.#readState(), notice: { eventId: crypto.randomUUID(), reason, at: now } });
    await this.#notify(row);
  }

  async #isNotified(row: RunnableWorkflow): Promise<boolean> {
    try {
      await this.#notify(row);
      return true;
    } catch (error) {
      this.#log("Webhooks could not be notified of a disabled workflow", error);
      return false;
    }
  }

  /** Notifies the owners, and the webhooks that listen to it, that this workflow was disabled, unless that is done. */
  async #notify({ id, name }: RunnableWorkflow): Promise<void> {
    const { notice, ...state } = this.#readState();
    if (notice === null) return;
    const { eventId, reason, at } = notice;
    const log = (message: string, error: unknown) => this.#log(message, error);
    const mail = disabledNotice({ id, name }, eventId, reason, at);
    await notifyOwners(this.#env, this.#tenant.accountId, mail, log);
    const event = {
      id: eventId,
      event: "workflow.disabled",
      occurredAt: at,
      body: presentWorkflowDisabled(eventId, at, { id, name }, reason),
      pendingSubscriptions: null,
    } as const;
    // The event concerns no room: webhooks of one room do not receive it, and in its place stands what it is about.
    const unreached = await fanOut(this.#tenant, subscriberGateway(this.#env), id, [event], id);
    if (unreached.size > 0) throw new Error("Some webhooks could not be notified of a disabled workflow");
    this.#writeState({ ...state, notice: null });
  }

  /** Its executions show how much it runs; at the bound, `disabled_reason` says why it does no longer. */
  async reportBacklog(): Promise<void> {}

  /** Rejects when the run could not be started. */
  async #run(
    { accountId, id: workflowId, module, hash, origin }: RunnableWorkflow,
    { eventId, roomId, body, trace }: OutgoingEvent,
    attempt: number,
    secrets: readonly Secret[],
  ): Promise<{ readonly report: RunReport; readonly restMs: number }> {
    const limits = runLimits(this.#env);
    this.#runner ??= selectRunner(this.#env);
    const bindings = this.#openBindings({
      ...{ accountId, workflowId, roomId, eventId, origin },
      depth: depthOf(body),
      trace: readTrace(trace),
      calls: limits.calls,
    });
    const input = { event: body, attempt, secrets };
    const report = await this.#runner.run({ accountId, workflowId, module, hash }, input, bindings, limits);
    return { report: redact(report, secrets), restMs: restAfter(report, limits) };
  }

  /** What one run may use, in the room of its event. */
  #openBindings(scope: RunScope): RunBindings {
    const [rooms, subscribers] = [roomGateway(this.#env), subscriberGateway(this.#env)];
    return new RunBindings(scope, {
      db: this.#tenant.db,
      rooms,
      relayEvents: ({ db, log, defer }, rows) => relayEvents({ db, log, defer, rooms, subscribers }, rows),
      blobs: openBlobs(this.#env.FILES),
      quotaDefaults: quotaDefaults(this.#env),
      fetch: (...args: Parameters<typeof fetch>) => fetch(...args),
      devTargets: workflowDevTargets(this.#env),
      ownHosts: ownHosts(this.#env),
      now: this.#now,
      log: (message, error) => this.#log(message, error, { trace: storeTrace(scope.trace) }),
    });
  }

  #failOrPostpone({ retries }: RunnableWorkflow): DeliveryOutcome {
    const now = this.#now();
    const state = this.#readState();
    const stuckSince = state.stuckSince ?? now;
    this.#writeState({ ...state, stuckSince });
    return retries > 0 || now - stuckSince < MAX_STUCK_MS
      ? this.#postponed
      : { type: "failed", attempt: null, error: NOT_STARTED };
  }

  get #postponed(): DeliveryOutcome {
    return { type: "postponed", until: this.#now() + PAUSE_MS, why: NOT_STARTED };
  }

  #readState(): State {
    return parseState(this.#state.read());
  }

  /** Most runs change nothing. */
  #writeState(state: State): void {
    const json = JSON.stringify(state);
    if (json !== JSON.stringify(this.#readState())) this.#state.write(json);
  }

  /** With the request behind the event that a run is for. */
  #log(message: string, error?: unknown, { trace }: Pick<OutgoingEvent, "trace"> = {}): void {
    const request = readTrace(trace)?.requestId;
    logError(message, { account: this.#tenant.accountId, workflow: this.#id, request }, error);
  }
}

const loopAt = (depth: number): string =>
  `Not started: its event has depth ${depth}, so actions of workflows follow each other in what looks like a loop. At most ${MAX_CAUSE_DEPTH} do`;

/** As the command that saved the code wrote it. */
const parseProblem = (json: string): { message: string } => JSON.parse(json) as { message: string };
