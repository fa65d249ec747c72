import { env } from "cloudflare:workers";
import type { WorkflowExecution } from "@atrium/contract/rest/workflow-executions.ts";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, inject, it, vi } from "vitest";
import type { DeliveryOutcome } from "../../src/delivery/subscriber/handler.ts";
import { openDelivery } from "../../src/delivery/subscribers.ts";
import { presentExecution } from "../../src/features/workflows/present.ts";
import { WorkflowHandler } from "../../src/features/workflows/workflow-handler.ts";
import { Isolates } from "../../src/sandbox/runners/loader-runner.ts";
import { handledEvent, memoryState, outgoingEvent, START, TestQueue } from "../delivery/test-queue.ts";
import { type Account, account } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import { RunGate } from "./gate.ts";
import { TestWorkflow } from "./test-workflow.ts";

const WATCH_MS = 5_000;
/** Returns the number of its event. */
const NUMBERS = "export default (event) => event.number;";
const INTERRUPTED =
  "The run was interrupted by a restart of the service. It is not repeated: a workflow runs at most once per event";

const { subscribers } = openDelivery(env);

const eventIn = (number: number, roomId: string = crypto.randomUUID()) => outgoingEvent(number, { roomId });

let owner: Account;

beforeEach(async () => {
  owner = await account();
  vi.spyOn(Isolates, "hold");
});

afterEach(() => vi.mocked(Isolates.hold).mockRestore());

class TestWorkflowQueue extends TestQueue {
  readonly testWorkflow: TestWorkflow;

  private constructor(testWorkflow: TestWorkflow) {
    super({ kind: "workflow", accountId: owner.id, id: testWorkflow.workflow.id });
    this.testWorkflow = testWorkflow;
  }

  static async create(code = NUMBERS): Promise<TestWorkflowQueue> {
    const subject = new TestWorkflowQueue(await TestWorkflow.create(owner.api, code));
    await subject.inside(() => undefined);
    return subject;
  }

  async list(): Promise<readonly WorkflowExecution[]> {
    const { deliveries } = await subscribers(this.key).list("over", { limit: 100, offset: 0 });
    return deliveries.map((each) => presentExecution(this.key.id, each));
  }

  /** Aborts the object in the middle of its work, so that it cannot give back isolates itself. */
  async crash(): Promise<void> {
    await this.inside((_, state) => state.abort("crash")).catch(() => undefined);
    for (const { type, value } of vi.mocked(Isolates.hold).mock.settledResults)
      if (type === "fulfilled") value[Symbol.dispose]();
    await this.inside(() => undefined);
  }

  #count(condition: string): Promise<number> {
    return this.inside((_, { storage }) => {
      const query = `SELECT count(*) AS count FROM deliveries WHERE status = 'pending' AND ${condition}`;
      return storage.sql.exec<{ count: number }>(query).one().count;
    });
  }

  pending(): Promise<number> {
    return this.#count("TRUE");
  }

  /** How many runs are in flight, or are to start: pending, and not waiting for a retry. */
  inFlight(): Promise<number> {
    return this.#count(`due_at <= ${this.now}`);
  }

  /** Results of the runs, oldest first. */
  async results(count: number): Promise<unknown[]> {
    await expect.poll(async () => (await this.list()).length).toBe(count);
    return (await this.list()).map(({ result }) => JSON.parse(result)).toReversed();
  }
}

describe("a workflow's object", () => {
  it("records a run that was cut off, does not repeat it, and continues with the pending events", async () => {
    const gate = new RunGate();
    const subject = await TestWorkflowQueue.create(gate.codeReturning("ran"));
    const room = crypto.randomUUID();
    const events = [eventIn(1, room), eventIn(2, room)];
    await subject.enqueue(...events);
    await gate.reached(1);
    await subject.crash();
    expect(await subject.list()).toMatchObject([
      { status: "failed", result: INTERRUPTED, event: "user.created", duration_ms: 0, logs: [] },
    ]);
    await gate.open();
    expect(await subject.advance(WATCH_MS)).toBe(true);
    await expect.poll(async () => (await subject.list()).length).toBe(2);
    expect(await subject.list()).toMatchObject([
      { status: "success", result: '"ran"' },
      { status: "failed", result: INTERRUPTED },
    ]);
    expect(await gate.arrived()).toEqual(events.map(({ eventId }) => eventId));
  });
});

describe("a workflow with retries", () => {
  /** Fails on odd numbers. */
  const codeFor = (gate: RunGate) => `export default async (event) => {
    await fetch("${gate.url}", { method: "POST", body: event.id });
    if (event.number % 2 === 1) throw new Error("odd");
    return event.number;
  };`;
  const withRetries = async (gate: RunGate, retries: number): Promise<TestWorkflowQueue> => {
    await gate.open();
    const subject = await TestWorkflowQueue.create(codeFor(gate));
    await subject.testWorkflow.change({ retries });
    return subject;
  };
  const LONG_MS = 30 * 60_000;

  it("makes a failed run again, with growing pauses, until it has failed often enough", async () => {
    const gate = new RunGate();
    const subject = await withRetries(gate, 2);
    const event = eventIn(1);
    await subject.enqueue(event);
    await gate.reached(1);
    for (const [pauseMs, reached] of [
      [4_999, 1],
      [1, 2],
      [29_999, 2],
      [1, 3],
    ] as const) {
      await expect.poll(() => subject.inFlight()).toBe(0);
      await subject.advance(pauseMs);
      await gate.reached(reached);
    }
    await expect.poll(() => subject.pending()).toBe(0);
    expect(await subject.list()).toMatchObject([
      { status: "failed", result: expect.stringContaining("odd"), attempts: 3 },
    ]);
    expect(await gate.arrived()).toEqual([event.eventId, event.eventId, event.eventId]);
  });

  it("never repeats a run that started without them, whatever it has when the run is cut off", async () => {
    const gate = new RunGate();
    const subject = await TestWorkflowQueue.create(codeFor(gate));
    await subject.enqueue(eventIn(2));
    await gate.reached(1);
    await subject.testWorkflow.change({ retries: 5 });
    await subject.enqueue(eventIn(4));
    await gate.reached(2);
    await subject.crash();
    await gate.open();
    await subject.advance(WATCH_MS);
    await expect.poll(() => subject.pending()).toBe(0);
    expect(await subject.list()).toMatchObject([
      { status: "success", result: "4", attempts: 1 },
      { status: "failed", result: INTERRUPTED, attempts: 0 },
    ]);
    expect(await gate.arrived()).toHaveLength(3);
  });

  it("does each of its actions once, however often a crash or a failure repeats it", async () => {
    const gate = new RunGate();
    const { id: roomId } = await owner.api.createRoom();
    const { id: userId } = await owner.api.createUser(roomId);
    const subject = await TestWorkflowQueue.create(`export default async (event, { actions, attempt }) => {
      await actions.comments.create({ userId: "${userId}", text: "of " + event.number });
      await actions.stores.set("board", "latest", event.number);
      await fetch("${gate.url}", { method: "POST", body: event.id });
      if (event.number === 1 && attempt < 3) throw new Error("not yet");
      return attempt;
    };`);
    await subject.testWorkflow.change({ retries: 2 });
    await subject.enqueue(eventIn(1, roomId), eventIn(2, roomId));
    await gate.reached(1);
    await subject.crash();
    await subject.advance(WATCH_MS);
    await gate.reached(2);
    await gate.open();
    for (const reached of [4, 5]) {
      await expect.poll(() => subject.inFlight()).toBe(0);
      await subject.advance(LONG_MS);
      await gate.reached(reached);
    }
    await expect.poll(() => subject.pending()).toBe(0);
    expect(await subject.list()).toMatchObject([
      { status: "success", result: "1", attempts: 1 },
      { status: "success", result: "3", attempts: 3 },
    ]);
    const path = `/rooms/${roomId}`;
    const { data } = await owner.api.get<{ comments: { text: string }[] }>(`${path}/comments`);
    expect(data.comments.map(({ text }) => text)).toEqual(["of 1", "of 2"]);
    const { data: latest } = await owner.api.get<{ value: number }>(`${path}/stores/board/latest`);
    expect(latest.value).toBe(2);
  });

  it("makes a run by hand once", async () => {
    const subject = await withRetries(new RunGate(), 5);
    expect(await subscribers(subject.key).deliverNow(subject.key, eventIn(1))).toMatchObject({
      status: "failed",
      attempts: 1,
    });
  });

  it.each([0, 1, 2])("ends each event as it must, whatever crashes: %i retries", async (retries) => {
    const gate = new RunGate();
    const subject = await withRetries(gate, retries);
    const room = crypto.randomUUID();
    const events = [1, 2, 3, 4, 5, 6].map((number) =>
      eventIn(number, number > 3 ? room : crypto.randomUUID()),
    );
    let crashes = 0;
    const step = fc.record({ isLater: fc.boolean(), isCrash: fc.boolean() });
    const { seed } = inject("endurance");
    const steps = fc.sample(step, { seed, numRuns: events.length });
    for (const [index, event] of events.entries()) {
      await subject.enqueue(event);
      if (steps[index]?.isLater) await subject.advance(LONG_MS);
      if (steps[index]?.isCrash) {
        crashes += 1;
        await subject.crash();
      }
    }
    await expect
      .poll(async () => {
        await subject.advance((await subject.inFlight()) > 0 ? WATCH_MS : LONG_MS);
        return subject.pending();
      })
      .toBe(0);
    const executions = (await subject.list()).toReversed();
    const arrived = await gate.arrived();
    expect(executions, `seed ${seed}`).toHaveLength(events.length);
    for (const [index, execution] of executions.entries()) {
      const isOdd = index % 2 === 0;
      const runs = arrived.filter((id) => id === events[index]?.eventId).length;
      if (retries === 0) {
        expect(runs, `seed ${seed}`).toBeLessThanOrEqual(1);
        if (execution.result !== INTERRUPTED) expect(execution.status).toBe(isOdd ? "failed" : "success");
        continue;
      }
      expect(execution, `seed ${seed}`).toMatchObject({
        status: isOdd ? "failed" : "success",
        attempts: isOdd ? 1 + retries : 1,
      });
      expect(runs).toBeGreaterThanOrEqual(execution.attempts);
      expect(runs).toBeLessThanOrEqual(execution.attempts + crashes);
    }
  });
});

it("a workflow that cannot be started is retried for five minutes, and then its runs fail", async () => {
  const { workflow } = await TestWorkflow.create(owner.api, NUMBERS);
  const { LOADER: _, ...withoutLoader } = env;
  const state = memoryState();
  let now = START;
  const handlerWith = (bindings: typeof env) =>
    new WorkflowHandler(bindings, { accountId: owner.id, id: workflow.id }, () => now, state);
  const cannotStart = { why: "The workflow could not be started" };
  const postponed = (): DeliveryOutcome => ({ type: "postponed", until: now + 5_000, ...cannotStart });
  const failed = { type: "failed", attempt: null, error: cannotStart.why };
  expect(await handlerWith(withoutLoader).deliver(handledEvent(1), 0)).toEqual(postponed());
  now += 5 * 60_000 - 1;
  expect(await handlerWith(withoutLoader).deliver(handledEvent(1), 0)).toEqual(postponed());
  now += 1;
  expect(await handlerWith(withoutLoader).deliver(handledEvent(1), 0)).toEqual(failed);
  expect(await handlerWith(withoutLoader).deliver(handledEvent(2), 0)).toEqual(failed);
  expect(await handlerWith(env).deliver(handledEvent(3), 0)).toMatchObject({ type: "delivered" });
  expect(await handlerWith(withoutLoader).deliver(handledEvent(4), 0)).toEqual(postponed());
  expectLogged("Workflows are not set up in this deployment");
});
