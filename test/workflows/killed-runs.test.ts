/** Runs that end with their process: reports, and disabling of the workflow. */
import { env } from "cloudflare:workers";
import { WorkflowDisabledEvent } from "@atrium/contract/resources/workflow-events.ts";
import { beforeEach, describe, expect, it } from "vitest";
import type { DeliveryRecord } from "../../src/delivery/subscriber/delivery.ts";
import type { HandlerState } from "../../src/delivery/subscriber/handler.ts";
import type { DebugPort } from "../../src/env.ts";
import { presentCurrentExecution } from "../../src/features/workflows/present.ts";
import { continueStreak, isExhausted, planRetry } from "../../src/features/workflows/run-state.ts";
import { WorkflowHandler } from "../../src/features/workflows/workflow-handler.ts";
import { DATA_SETS } from "../../src/platform/telemetry/data-sets.ts";
import { compileInPool } from "../../src/sandbox/runners/compiler.ts";
import { connectEachTime, PoolClient } from "../../src/sandbox/runners/pool-client.ts";
import type { KillReason } from "../../src/sandbox/runners/pool-protocol.ts";
import { selectCompiler } from "../../src/sandbox/runners/select-runner.ts";
import { RecordingSubscriber } from "../delivery/recording-subscriber.ts";
import { handledEvent, memoryState } from "../delivery/test-queue.ts";
import { type Account, account } from "../support/api.ts";
import { takeMetrics } from "../support/taken-metrics.ts";
import { CODE, TestWorkflow } from "./test-workflow.ts";

/** How a process ends its call: with an answer, or killed for a reason. */
type Fate = { readonly answer: unknown } | { readonly killed: KillReason };

const SUCCESS = JSON.stringify({ status: "success", result: "1", isSpent: false, logs: [] });

/** A pool whose only process meets these fates, one call after the other; `requests` has the pool's requests. */
function poolOf(...fates: Fate[]) {
  const requests: { path: string; body: Record<string, unknown> }[] = [];
  let latest: Fate = { answer: SUCCESS };
  const call = async () => {
    latest = fates.shift() ?? { answer: SUCCESS };
    if ("killed" in latest) throw new Error("Network connection lost.");
    return latest.answer;
  };
  const PROGRAM_PORT: DebugPort = {
    connect: async () => ({ getEntrypoint: async () => ({ run: call, compile: call }) }),
  };
  const fetch = async (url: string, { body = "" }: { readonly body?: string }) => {
    const path = new URL(url).pathname;
    requests.push({ path, body: JSON.parse(body) });
    if (path === "/lease") return Response.json({ id: "a lease", address: "unix:/a", token: "a token" });
    return Response.json({ ranMs: 7, killed: "killed" in latest ? latest.killed : null });
  };
  // The service uses no other method of the binding.
  const PROGRAM_POOL = { fetch } as unknown as Fetcher;
  return { requests, bindings: { ...env, PROGRAM_POOL, PROGRAM_PORT } };
}

let owner: Account;
let subject: TestWorkflow;
let state: HandlerState;
beforeEach(async () => {
  owner = await account();
  subject = await TestWorkflow.create(owner.api, CODE);
  state = memoryState();
});

const handlerWith = (bindings: ReturnType<typeof poolOf>["bindings"]) =>
  new WorkflowHandler(bindings, { accountId: owner.id, id: subject.workflow.id }, Date.now, state);

describe("a run whose process was killed", () => {
  it.each([
    ["cpu", "The workflow used more than 1000 ms of processor time"],
    ["memory", "The workflow used more than 128 MB of memory"],
    ["wall", "The workflow took longer than 30 s"],
    ["crash", "The workflow crashed the process that ran it"],
  ] as const)("fails with the reason: %s", async (killed, error) => {
    const { bindings, requests } = poolOf({ killed });
    expect(await handlerWith(bindings).deliver(handledEvent(0), 0)).toMatchObject({ type: "failed", error });
    expect(requests).toMatchObject([
      { path: "/lease", body: { accountId: owner.id, limits: { cpuMs: 1_000, memoryMb: 128 } } },
      { path: "/end", body: { id: "a lease", isSpent: true, isLost: true } },
    ]);
  });

  it("is counted among the killed ones, and one that only fails is not", async () => {
    takeMetrics(DATA_SETS.runs);
    const failure = JSON.stringify({ status: "failed", result: "Error: no", isSpent: false, logs: [] });
    const handler = handlerWith(poolOf({ killed: "cpu" }, { answer: failure }, { answer: SUCCESS }).bindings);
    await handler.deliver(handledEvent(0), 0);
    expect(takeMetrics(DATA_SETS.runs)).toMatchObject([
      { labels: ["failed"], values: { killed: 1, processor_ms: 7, duration_count: 1 } },
    ]);
    await handler.deliver(handledEvent(0), 0);
    await handler.deliver(handledEvent(0), 0);
    const later = takeMetrics(DATA_SETS.runs).toSorted((a, b) => (`${a.labels}` < `${b.labels}` ? -1 : 1));
    expect(later).toMatchObject([
      { labels: ["failed"], values: { killed: 0, processor_ms: 7, duration_count: 1 } },
      { labels: ["success"], values: { killed: 0, processor_ms: 7, duration_count: 1 } },
    ]);
  });

  it("makes the workflow run one event at a time, until one is not killed", async () => {
    const handler = handlerWith(poolOf({ killed: "cpu" }).bindings);
    expect(handler.pace.maxInFlight).toBe(6);
    await handler.deliver(handledEvent(0), 0);
    expect(handler.pace.maxInFlight).toBe(1);
    expect(await handler.deliver(handledEvent(0), 0)).toMatchObject({ type: "delivered" });
    expect(handler.pace.maxInFlight).toBe(6);
  });

  it("disables the workflow when it is the second in a row, with an event, until it is enabled again", async () => {
    const webhook = await RecordingSubscriber.create(owner.api, { events: ["workflow.disabled"] });
    const { bindings, requests } = poolOf({ killed: "cpu" }, { killed: "memory" });
    const handler = handlerWith(bindings);
    for (let count = 0; count < 2; count += 1) {
      expect(await handler.deliver(handledEvent(0), 0)).toMatchObject({ type: "failed" });
    }
    expect(await handler.deliver(handledEvent(0), 0)).toMatchObject({ type: "suspended" });
    expect(requests.filter(({ path }) => path === "/lease")).toHaveLength(2);
    expect((await owner.api.get(subject.path)).data).toMatchObject({
      workflow: { enabled: false, disabled_reason: expect.stringContaining("had to be killed") },
    });
    await expect.poll(async () => (await webhook.received()).length).toBe(1);
    const [message] = await webhook.received();
    expect(WorkflowDisabledEvent.parse(JSON.parse(message?.body ?? ""))).toMatchObject({
      data: { workflowId: subject.workflow.id, reason: "killed" },
      workflow: { id: subject.workflow.id, name: "A workflow" },
    });
    await subject.change({ enabled: true });
    expect(await handlerWith(bindings).deliver(handledEvent(0), 0)).toMatchObject({ type: "delivered" });
  });
});

describe("compiling in a process", () => {
  const compileWith = (fate: Fate) => {
    const { PROGRAM_POOL, PROGRAM_PORT } = poolOf(fate).bindings;
    return compileInPool(new PoolClient(PROGRAM_POOL, connectEachTime(PROGRAM_PORT)))(owner.id, CODE);
  };

  it("gives what the process gives", async () => {
    const answer = { ok: true, module: "export default () => 1;", problemAtRun: null };
    expect(await compileWith({ answer })).toEqual(answer);
  });

  it("is what saving does wherever there is a pool: the service itself reads none of the code", async () => {
    const answer = { ok: true, module: "export default () => 1;", problemAtRun: null };
    const { bindings, requests } = poolOf({ answer });
    expect(await selectCompiler(bindings)(owner.id, "this is no program")).toEqual(answer);
    const lease = {
      accountId: owner.id,
      program: `${owner.id}/compile`,
      limits: { cpuMs: 5_000, memoryMb: 512 },
    };
    expect(requests[0]).toMatchObject({ path: "/lease", body: lease });
  });

  it("refuses code that keeps the process for too long", async () => {
    expect(await compileWith({ killed: "cpu" })).toEqual({
      ok: false,
      problem: { message: "The code takes too long to compile, or too much memory", line: 1, column: 1 },
    });
  });
});

// When a failed run is made again, and what its execution shows until then.

it("a failed run is made again after growing pauses, until there are no retries left", () => {
  const pauses = (retries: number) =>
    Array.from({ length: 7 }, (_, index) => planRetry(index + 1, retries, 1_000)).map(
      (at) => at && (at - 1_000) / 1_000,
    );
  expect(pauses(0)).toEqual([null, null, null, null, null, null, null]);
  expect(pauses(2)).toEqual([5, 30, null, null, null, null, null]);
  expect(pauses(5)).toEqual([5, 30, 120, 600, 1_800, null, null]);
});

it("an execution that waits for a retry, or is in one, shows what the run before has failed of", () => {
  const logs = [{ level: "log", message: "so far", timestamp: "2026-01-31T09:30:00.000Z" }];
  const run = { attempted_at: "2026-01-31T09:30:00.000Z", duration_ms: 7, result: null, version: 2, logs };
  const delivery: DeliveryRecord = {
    ...{ id: "execution", seq: 1, eventId: "event", event: "user.created", roomId: "room", body: "{}" },
    ...{ occurredAt: 0, createdAt: 0, lastAttemptAt: 0, dueAt: 5_000, status: "pending", attempts: 1 },
    error: "Error: odd (line 1)",
    log: JSON.stringify([run]),
  };
  const shown = (isInFlight: boolean) => presentCurrentExecution("workflow", { delivery, isInFlight });
  expect(shown(false)).toEqual({
    ...{ id: "execution", workflow_id: "workflow", event: "user.created", status: "pending" },
    ...{ result: "Error: odd (line 1)", version: 2, attempts: 1, duration_ms: 7, logs },
    created_at: "1970-01-01T00:00:00.000Z",
  });
  expect(shown(true)).toEqual({ ...shown(false), status: "running" });
});

// Runs in a row that count as killed, and workflows that must not run again.

type EndedRun = Parameters<typeof continueStreak>[1];

const run = (endedAt: number, changes: Partial<EndedRun> = {}): EndedRun => ({
  isKilled: true,
  version: 1,
  startedAt: endedAt - 10,
  endedAt,
  ...changes,
});
const streakOf = (...runs: readonly EndedRun[]) =>
  runs.reduce<ReturnType<typeof continueStreak>>(continueStreak, null);

describe("runs that were killed", () => {
  it("exhaust a workflow when they are two in a row", () => {
    expect(isExhausted(streakOf(run(100)), 1)).toBe(false);
    expect(isExhausted(streakOf(run(100), run(200)), 1)).toBe(true);
  });

  it("do not add up over a run that was not", () => {
    const streak = streakOf(run(100), run(200, { isKilled: false }), run(300));
    expect(streak).toMatchObject({ kills: 1 });
  });

  it("count once when they ended with one process", () => {
    expect(streakOf(run(100), run(101, { startedAt: 95 }), run(102, { startedAt: 90 }))).toMatchObject({
      kills: 1,
    });
  });

  it("are not forgotten for a run that ended beside them", () => {
    expect(streakOf(run(100), run(103, { startedAt: 99, isKilled: false }))).toMatchObject({ kills: 1 });
  });

  it("say nothing of code that has changed since", () => {
    const streak = streakOf(run(100), run(200));
    expect(isExhausted(streak, 2)).toBe(false);
    expect(continueStreak(streak, run(300, { version: 2 }))).toMatchObject({ kills: 1, version: 2 });
  });
});
