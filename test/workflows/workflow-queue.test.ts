/** The object of a workflow: it runs at most once per event, through repetitions, failures and crashes. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { DeliveryOutcome } from "../../src/delivery/handler.ts";
import type { OutgoingEvent, SubscriberKey } from "../../src/delivery/port/subscriber-port.ts";
import { KEPT_MS } from "../../src/delivery/subscriber/delivery-retention.ts";
import type { SubscriberObject } from "../../src/delivery/subscriber/subscriber-object.ts";
import { subscriberGateway } from "../../src/delivery/subscribers.ts";
import { presentExecution, type WorkflowExecution } from "../../src/workflows/execution-schema.ts";
import type { Workflow } from "../../src/workflows/schema.ts";
import { MAX_STUCK_MS, WorkflowHandler } from "../../src/workflows/workflow-handler.ts";
import { type Account, account } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import { Gate } from "./gate.ts";
import { TestWorkflow } from "./test-workflow.ts";

/** Far ahead of the real time, so that no alarm ever fires unless a test runs it. */
const START = Date.UTC(2100, 0, 1);
const WATCH_MS = 5_000;
/** Returns the number of its event. */
const NUMBERS = "export default (event) => event.number;";
const INTERRUPTED =
  "The run was interrupted by a restart of the service. It is not repeated: a workflow runs at most once per event";

const subscribers = subscriberGateway(env);

/** A numbered event of a room. */
const outgoingEvent = (number: number, roomId: string = crypto.randomUUID()): OutgoingEvent => {
  const eventId = crypto.randomUUID();
  const body = JSON.stringify({ id: eventId, number });
  return { eventId, event: "user.created", roomId, body, occurredAt: START };
};

let owner: Account;
/** The clock of the object. */
let now: number;

beforeEach(async () => {
  owner = await account();
  now = START;
});

/** A workflow whose object has a clock that only the test advances. */
class Subject {
  readonly testWorkflow: TestWorkflow;

  private constructor(testWorkflow: TestWorkflow) {
    this.testWorkflow = testWorkflow;
  }

  static async create(code = NUMBERS): Promise<Subject> {
    const subject = new Subject(await TestWorkflow.create(owner.api, code));
    await subject.inside(() => undefined);
    return subject;
  }

  get key(): SubscriberKey {
    return { kind: "workflow", accountId: owner.id, id: this.testWorkflow.workflow.id };
  }

  get stub(): DurableObjectStub<SubscriberObject> {
    return env.SUBSCRIBERS.getByName(`workflow:${this.key.id}`);
  }

  inside<T>(work: (object: SubscriberObject, state: DurableObjectState) => T | Promise<T>): Promise<T> {
    return runInDurableObject(this.stub, (object: SubscriberObject, state) => {
      object.clock = () => now;
      return work(object, state);
    });
  }

  enqueue(...events: OutgoingEvent[]): Promise<void> {
    return subscribers.enqueue(this.key, events, 1);
  }

  /** Advances the clock and runs the alarm; false when none is set. */
  async advance(ms: number): Promise<boolean> {
    now += ms;
    await this.inside(() => undefined);
    return runDurableObjectAlarm(this.stub);
  }

  async list(): Promise<readonly WorkflowExecution[]> {
    const { deliveries } = await subscribers.list(this.key, "over", { limit: 100, offset: 0 });
    return deliveries.map((each) => presentExecution(this.key.id, each));
  }

  /** Aborts the object in the middle of its work. */
  async crash(): Promise<void> {
    await this.inside((_, state) => state.abort("crash")).catch(() => undefined);
    await this.inside(() => undefined);
  }

  /** How many events are pending. */
  pending(): Promise<number> {
    return this.inside((_, { storage }) => {
      const query = "SELECT count(*) AS count FROM deliveries WHERE status = 'pending'";
      return storage.sql.exec<{ count: number }>(query).one().count;
    });
  }

  /** What the runs returned, the oldest first. */
  async results(count: number): Promise<unknown[]> {
    await expect.poll(async () => (await this.list()).length).toBe(count);
    return (await this.list()).map(({ result }) => JSON.parse(result)).toReversed();
  }
}

describe("a workflow's object", () => {
  it("runs once per event id, however often the event is sent", async () => {
    const gate = new Gate();
    const subject = await Subject.create(gate.codeReturning("ran"));
    const [first, second] = [outgoingEvent(1), outgoingEvent(2)];
    await Promise.all([
      subject.enqueue(first),
      subject.enqueue(first, second),
      subject.enqueue(second, second),
    ]);
    await gate.reached(2);
    await subject.enqueue(first, second);
    await gate.open();
    expect(await subject.results(2)).toEqual(["ran", "ran"]);
    await subject.enqueue(second, first);
    expect(await subject.pending()).toBe(0);
    expect((await gate.arrived()).toSorted()).toEqual([first.eventId, second.eventId].toSorted());
  });

  it("records a run that was cut off, does not repeat it, and continues with the pending events", async () => {
    const gate = new Gate();
    const subject = await Subject.create(gate.codeReturning("ran"));
    const room = crypto.randomUUID();
    const events = [outgoingEvent(1, room), outgoingEvent(2, room)];
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

  it("notices at once that the workflow was disabled, updated or deleted", async () => {
    const subject = await Subject.create();
    await subject.enqueue(outgoingEvent(1));
    expect(await subject.results(1)).toEqual([1]);
    await subject.testWorkflow.change({ enabled: false });
    await subject.enqueue(outgoingEvent(2));
    await expect.poll(() => subject.pending()).toBe(0);
    expect(await subject.results(1)).toEqual([1]);
    await subject.testWorkflow.change({ enabled: true, code: "export default (event) => -event.number;" });
    await subject.enqueue(outgoingEvent(3));
    expect(await subject.results(2)).toEqual([1, -3]);
    await owner.api.delete(subject.testWorkflow.path);
    await subject.enqueue(outgoingEvent(4));
    const tables = () =>
      subject.inside(
        (_, { storage }) =>
          storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'deliveries'").toArray().length,
      );
    await expect.poll(tables).toBe(0);
    expect(await subject.inside((_, state) => state.storage.getAlarm())).toBeNull();
  });

  it("waits while the database fails, without recording a run", async () => {
    const subject = await Subject.create();
    await env.DB.exec("ALTER TABLE workflows RENAME TO workflows_away");
    await subject.enqueue(outgoingEvent(1), outgoingEvent(2));
    await expect.poll(() => subject.inside((_, state) => state.storage.getAlarm())).not.toBeNull();
    expectLogged("no such table: workflows");
    await evictDurableObject(subject.stub);
    await env.DB.exec("ALTER TABLE workflows_away RENAME TO workflows");
    expect(await subject.list()).toEqual([]);
    await subject.advance(10_000);
    expect((await subject.results(2)).toSorted()).toEqual([1, 2]);
  });

  it("suspends the workflow when events wait for too long, and runs on them when it is enabled again", async () => {
    const gate = new Gate();
    const subject = await Subject.create(gate.codeReturning("ran"));
    const room = crypto.randomUUID();
    await subject.enqueue(outgoingEvent(1, room), outgoingEvent(2, room));
    await gate.reached(1);
    await subject.advance(KEPT_MS);
    const { path } = subject.testWorkflow;
    const read = async () => (await owner.api.get<{ workflow: Workflow }>(path)).data.workflow;
    await expect.poll(read).toMatchObject({
      enabled: false,
      disabled_reason: expect.stringContaining("Too many events were waiting"),
    });
    await gate.open();
    await subject.results(1);
    expect(await subject.pending()).toBe(1);
    await subject.testWorkflow.change({ enabled: true });
    expect(await subject.results(2)).toEqual(["ran", "ran"]);
    expect(await read()).not.toHaveProperty("disabled_reason");
  });

  it("keeps executions for seven days", async () => {
    const subject = await Subject.create('import "nothing"; export default () => 1;');
    await subject.enqueue(outgoingEvent(1), outgoingEvent(2));
    await expect.poll(() => subject.pending()).toBe(0);
    expect(await subject.advance(KEPT_MS - 1)).toBe(true);
    expect(await subject.list()).toHaveLength(2);
    expect(await subject.advance(2)).toBe(true);
    expect(await subject.list()).toEqual([]);
  });
});

describe("a workflow that cannot be started", () => {
  it("is retried for five minutes, and then its runs fail", async () => {
    const { workflow } = await TestWorkflow.create(owner.api, NUMBERS);
    const { LOADER: _, ...withoutLoader } = env;
    let memory = "{}";
    const handlerWith = (bindings: typeof env) =>
      new WorkflowHandler(bindings, { accountId: owner.id, id: workflow.id }, () => now, {
        read: () => memory,
        write: (json) => {
          memory = json;
        },
      });
    const cannotStart = { why: "The workflow could not be started" };
    const postponed = (): DeliveryOutcome => ({ type: "postponed", until: now + 5_000, ...cannotStart });
    const failed = { type: "failed", attempt: null, error: cannotStart.why };
    expect(await handlerWith(withoutLoader).deliver(outgoingEvent(1))).toEqual(postponed());
    now += MAX_STUCK_MS - 1;
    expect(await handlerWith(withoutLoader).deliver(outgoingEvent(1))).toEqual(postponed());
    now += 1;
    expect(await handlerWith(withoutLoader).deliver(outgoingEvent(1))).toEqual(failed);
    expect(await handlerWith(withoutLoader).deliver(outgoingEvent(2))).toEqual(failed);
    expect(await handlerWith(env).deliver(outgoingEvent(3))).toMatchObject({ type: "delivered" });
    expect(await handlerWith(withoutLoader).deliver(outgoingEvent(4))).toEqual(postponed());
    expectLogged("Workflows are not set up in this deployment");
  });
});
