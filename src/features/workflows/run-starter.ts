/** Starts the runs of a workflow with bindings to the room of the event, and redacts their reports. */
import type { OutgoingEvent } from "../../delivery/outbox/subscription.ts";
import { relayEvents } from "../../delivery/outbox-relay.ts";
import type { DeliveryOutcome, HandledEvent } from "../../delivery/subscriber/handler.ts";
import { openDelivery } from "../../delivery/subscribers.ts";
import type { Env } from "../../env.ts";
import { ownHosts, quotaDefaults, runLimits } from "../../platform/config.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import { targetFetch } from "../../platform/network.ts";
import { readSetting } from "../../platform/settings.ts";
import { RUNS } from "../../platform/telemetry/data-sets.ts";
import { metrics } from "../../platform/telemetry/telemetry.ts";
import { presentTime } from "../../platform/time.ts";
import { readTrace } from "../../platform/trace.ts";
import { roomGateway } from "../../room/host/gateway.ts";
import type { RunLimits, RunReport, Secret } from "../../sandbox/runners/runner.ts";
import { selectRunner } from "../../sandbox/runners/select-runner.ts";
import { depthOf } from "../../wire/events.ts";
import { openBlobs } from "../files/storage/blobs.ts";
import type { LoggedRun } from "./execution-schema.ts";
import { RunBindings, type RunPorts } from "./run-bindings.ts";
import type { RunnableWorkflow } from "./table.ts";

/** Not longer than any secret: what was within a limit stays so. */
const MASK = "***";

/** The strings and numbers of a JSON text. */
const JSON_VALUE = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** The report without secrets. An encoded secret, such as in Base64, stays. */
export function redact(report: RunReport, secrets: readonly Secret[]): RunReport {
  if (secrets.length === 0) return report;
  const mask = maskFor(secrets.map(([, value]) => value));
  const { status, result, logs } = report;
  return {
    ...report,
    result: status === "success" ? maskJson(result, mask) : mask(result),
    logs: logs.map((line) => ({ ...line, message: mask(line.message) })),
  };
}

function maskFor(values: readonly string[]): (text: string) => string {
  const asJson = values.map((value) => JSON.stringify(value).slice(1, -1));
  // The longest first: one may be part of another.
  const hidden = [...new Set([...values, ...asJson])].toSorted((a, b) => b.length - a.length);
  return (text) => hidden.reduce((masked, value) => masked.replaceAll(value, MASK), text);
}

/** Value by value, so that it stays JSON. */
const maskJson = (json: string, mask: (text: string) => string): string =>
  json.replace(JSON_VALUE, (token) => {
    if (!token.startsWith('"')) return mask(token) === token ? token : JSON.stringify(mask(token));
    const text = JSON.parse(token) as string;
    const masked = mask(text);
    return masked === text ? token : JSON.stringify(masked);
  });

interface StarterPorts {
  readonly env: Env;
  readonly tenant: Tenant;
  now(): number;
  log(message: string, error?: unknown, event?: Pick<OutgoingEvent, "trace">): void;
}

/** The settings, the runner and the ports that all runs of the workflow share. Throws where no runner is set up. */
function share({ env, tenant, now }: StarterPorts) {
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

export class RunStarter {
  readonly #ports: StarterPorts;
  #shared: ReturnType<typeof share> | null = null;

  constructor(ports: StarterPorts) {
    this.#ports = ports;
  }

  release(): void {
    this.#shared?.runner[Symbol.dispose]();
  }

  /** Rejects when the run could not be started. The workflow rests for `restMs` after it. */
  async run(
    { accountId, id: workflowId, module, hash, origin }: RunnableWorkflow,
    { eventId, roomId, body, trace }: OutgoingEvent,
    attempt: number,
    secrets: readonly Secret[],
  ): Promise<{ readonly report: RunReport; readonly restMs: number }> {
    this.#shared ??= share(this.#ports);
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
      { ...ports, log: (message, error) => this.#ports.log(message, error, { trace: trace ?? null }) },
    );
    const input = { event: body, attempt, secrets };
    const report = await runner.run({ accountId, workflowId, module, hash }, input, bindings, limits);
    return { report: redact(report, secrets), restMs: restAfter(report, limits) };
  }
}

/** Counts a run that began at `startedAt` (epoch ms). A run on request has not waited. */
export function measureRun(
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
}

/** After a run that used too much processor time, the workflow rests for this multiple of that time. */
const REST_FACTOR = 4;

type Ended =
  | Extract<DeliveryOutcome, { type: "delivered" }>
  | { readonly type: "failed"; readonly attempt: LoggedRun; readonly error: string };

/**
 * On a machine that programs share, a workflow whose run used a good part of its processor time rests afterwards, so
 * that it uses a fifth of a core at most.
 */
const restAfter = ({ ranMs }: RunReport, { processCpuMs }: RunLimits): number =>
  ranMs > processCpuMs / REST_FACTOR ? REST_FACTOR * ranMs : 0;

/** The outcome of a run of this version, without retries. */
export function outcomeOf(
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
