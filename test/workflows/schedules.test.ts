/** Workflows that run by the clock: once for each slot, once after a stop, and never once they are off. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { AppError } from "@atrium/contract/errors.ts";
import type { Schedule } from "@atrium/contract/resources/schedule.ts";
import { WorkflowScheduledEvent } from "@atrium/contract/resources/workflow-events.ts";
import { beforeEach, describe, expect, it } from "vitest";
import type { SubscriberObjectBase } from "../../src/delivery/subscriber/subscriber-object.ts";
import { openDelivery } from "../../src/delivery/subscribers.ts";
import { isSlot, latestSlot, nextSlot, scheduleColumn } from "../../src/features/workflows/schedule.ts";
import { type Account, account } from "../support/api.ts";
import { TestWorkflow } from "./test-workflow.ts";

/** Once a year: no alarm fires unless a test runs it. */
const YEARLY = { cron: "0 0 1 1 *" };
const NEXT_YEAR = new Date().getUTCFullYear() + 1;
/** New Year, this number of years from now. */
const newYear = (years: number): number => Date.UTC(NEXT_YEAR - 1 + years, 0, 1);
const CODE = "export default (event) => event;";

let owner: Account;
beforeEach(async () => {
  owner = await account();
});

class ScheduledWorkflow {
  readonly workflow: TestWorkflow;
  #now: number | null = null;

  constructor(workflow: TestWorkflow) {
    this.workflow = workflow;
  }

  static async create(options: { roomId?: string } = {}, code = CODE): Promise<ScheduledWorkflow> {
    const workflow = await TestWorkflow.create(owner.api, code, { events: [], schedule: YEARLY, ...options });
    const subject = new ScheduledWorkflow(workflow);
    await subject.plannedFor(newYear(1));
    return subject;
  }

  get id(): string {
    return this.workflow.workflow.id;
  }

  get stub(): DurableObjectStub<SubscriberObjectBase> {
    return env.SUBSCRIBERS.getByName(`workflow:${this.id}`);
  }

  inside<T>(work: (storage: DurableObjectStorage) => T): Promise<T> {
    return runInDurableObject(this.stub, (object: SubscriberObjectBase, { storage }) => {
      const now = this.#now;
      if (now !== null) object.clock = () => now;
      return work(storage);
    });
  }

  /** When its object runs it next (epoch ms); null when it does not. */
  planned(): Promise<number | null> {
    return this.inside(({ sql }) => {
      const [row] = sql.exec<{ at: number }>(
        "SELECT json_extract(value, '$.nextAt') AS at FROM facts WHERE name = 'timetable'",
      );
      return row?.at ?? null;
    });
  }

  async plannedFor(at: number | null): Promise<void> {
    await expect.poll(() => this.planned()).toBe(at);
  }

  async alarmAt(now: number): Promise<void> {
    this.#now = now;
    await this.inside(() => undefined);
    await runDurableObjectAlarm(this.stub);
  }

  async events(count: number): Promise<WorkflowScheduledEvent[]> {
    return (await this.workflow.results(count)).map((result) => WorkflowScheduledEvent.parse(result));
  }
}

const slotsOf = (events: readonly WorkflowScheduledEvent[]) =>
  events.map(({ data }) => Date.parse(data.scheduledAt));

describe("a workflow with a schedule", () => {
  it("runs at each time of it, once, with an event that names the time", async () => {
    const subject = await ScheduledWorkflow.create();
    const { id, next_run_at, schedule } = subject.workflow.workflow;
    expect([next_run_at, schedule]).toEqual([
      new Date(newYear(1)).toISOString(),
      { cron: "0 0 1 1 *", timezone: "UTC" },
    ]);
    await subject.alarmAt(newYear(1) - 1);
    await subject.alarmAt(newYear(1));
    await subject.plannedFor(newYear(2));
    await subject.alarmAt(newYear(1) + 1);
    expect(await subject.events(1)).toEqual([
      {
        id: expect.any(String),
        event: "workflow.scheduled",
        timestamp: new Date(newYear(1)).toISOString(),
        data: { workflowId: id, roomId: null, scheduledAt: new Date(newYear(1)).toISOString() },
        workflow: { id, name: "A workflow" },
      },
    ]);
    expect(await subject.workflow.executions()).toMatchObject([
      { event: "workflow.scheduled", status: "success", attempts: 1 },
    ]);
    await subject.alarmAt(newYear(2)); // executions of a year ago are no longer kept
    await expect.poll(async () => slotsOf(await subject.events(1))).toEqual([newYear(2)]);
  });

  it("runs once for all that it missed while the service was stopped, for the latest of them", async () => {
    const subject = await ScheduledWorkflow.create();
    await evictDurableObject(subject.stub);
    await subject.alarmAt(newYear(4) + 1);
    await subject.plannedFor(newYear(5));
    expect(slotsOf(await subject.events(1))).toEqual([newYear(4)]);
  });

  it("does not run once it is disabled, and does not catch up when it is enabled again", async () => {
    const subject = await ScheduledWorkflow.create();
    expect(await subject.workflow.change({ enabled: false })).toMatchObject({ next_run_at: null });
    await subject.plannedFor(null);
    await subject.alarmAt(newYear(2) + 1);
    await subject.workflow.change({ enabled: true });
    await subject.plannedFor(newYear(3));
    await subject.alarmAt(newYear(3));
    expect(slotsOf(await subject.events(1))).toEqual([newYear(3)]);
  });

  it("follows its row, even if nothing notified its object of the change", async () => {
    const subject = await ScheduledWorkflow.create();
    const write = (sql: string, ...values: unknown[]) =>
      env.DB.prepare(`UPDATE workflows SET ${sql} WHERE id = ?`)
        .bind(...values, subject.id)
        .run();
    await write("schedule = ?", JSON.stringify({ cron: "0 0 2 1 *", timezone: "UTC" }));
    await subject.alarmAt(newYear(1));
    await subject.plannedFor(Date.UTC(NEXT_YEAR, 0, 2));
    await write("enabled = 0");
    await subject.alarmAt(Date.UTC(NEXT_YEAR, 0, 2));
    await subject.plannedFor(null);
    await write("enabled = 1");
    const key = { kind: "workflow", accountId: owner.id, id: subject.id } as const;
    await openDelivery(env).subscribers(key).expectChange(key);
    await subject.alarmAt(Date.UTC(NEXT_YEAR, 0, 2) + 30_000);
    await subject.plannedFor(Date.UTC(NEXT_YEAR + 1, 0, 2));
    expect(await subject.workflow.executions()).toEqual([]);
  });

  it("leaves nothing in its object when it was never saved, or is deleted", async () => {
    const id = crypto.randomUUID();
    const stub = env.SUBSCRIBERS.getByName(`workflow:${id}`);
    await openDelivery(env)
      .subscribers({ kind: "workflow", accountId: owner.id, id })
      .expectChange({ kind: "workflow", accountId: owner.id, id });
    await runInDurableObject(stub, (object: SubscriberObjectBase) => {
      const later = Date.now() + 30_000;
      object.clock = () => later;
    });
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    const tables = () =>
      runInDurableObject(
        stub,
        (_, { storage }) => [...storage.sql.exec("SELECT 1 FROM sqlite_schema WHERE name = 'facts'")].length,
      );
    await expect.poll(tables).toBe(0);
    expect(await runDurableObjectAlarm(stub)).toBe(false);
  });

  it("has the bindings of its room, and without a room none", async () => {
    const code = "export default (event, { room }) => room.get().then((room) => room.name);";
    const room = await owner.api.createRoom({ name: "Standup" });
    const [inRoom, anywhere] = [
      await ScheduledWorkflow.create({ roomId: room.id }, code),
      await ScheduledWorkflow.create({}, code),
    ];
    await inRoom.alarmAt(newYear(1));
    await anywhere.alarmAt(newYear(1));
    expect(await inRoom.workflow.results(1)).toEqual(["Standup"]);
    expect(await anywhere.workflow.ran(1)).toMatchObject([
      { status: "failed", result: expect.stringContaining("room.get: the run has no room") },
    ]);
  });
});

it("saving a schedule is refused for what never comes, and for what would leave nothing that starts the workflow", async () => {
  const body = { name: "A workflow", code: CODE, events: [] };
  const refused = async (part: object) => (await owner.api.post("/workflows", { ...body, ...part })).error;
  expect(await refused({ schedule: { cron: "0 0 30 2 *" } })).toMatchObject({
    code: "VALIDATION_ERROR",
    message: "schedule.cron: must name a time that exists: this one never comes",
  });
  expect(await refused({ schedule: { cron: "* * * * *", timezone: "Mars" } })).toMatchObject({
    message: expect.stringMatching(/^schedule\.timezone: must be the IANA name/),
  });
  expect(await refused({})).toMatchObject({
    message: expect.stringMatching(/^events: must have at least/),
  });

  const { workflow, path } = await TestWorkflow.create(owner.api, CODE, { events: [], schedule: YEARLY });
  const left = await owner.api.patch(path, { schedule: null });
  expect(left.error).toMatchObject({
    code: "VALIDATION_ERROR",
    message: expect.stringContaining("events"),
  });
  const changed = await owner.api.patch(path, { schedule: null, events: ["user.created"] });
  expect(changed.data).toMatchObject({ workflow: { id: workflow.id, schedule: null, next_run_at: null } });
});

// Schedules of workflows: valid ones, and the times of their slots, also when clocks change.

const MINUTE_MS = 60_000;
const time = (iso: string): number => Date.parse(iso);

/** The next slots after a time, in UTC. */
function slots(cron: string, timezone: string, after: string, count: number): string[] {
  const found: string[] = [];
  for (let at = time(after); found.length < count; ) {
    const next = nextSlot({ cron, timezone }, at);
    if (next === null) break;
    found.push(new Date(next).toISOString().slice(5, 16));
    at = next;
  }
  return found;
}

/** The problem of a schedule that a customer sends; null for none. */
function problemOf(cron: string, timezone = "UTC"): string | null {
  try {
    scheduleColumn({ cron, timezone });
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

describe("a cron expression", () => {
  it.each(["* * * * *", "*/7 * * * *", "0 9 * * 1-5", "0 9 * * MON,FRI", "0 0 29 2 *", " 5  4 * JAN 0 "])(
    "is accepted: %j",
    (cron) => expect(problemOf(cron)).toBe(null),
  );

  it.each([
    ["* * * * * *", /five fields/],
    ["* * * *", /five fields/],
    ["@daily", /five fields/],
    ["60 * * * *", /cron expression .*minute: 60/],
    ["a * * * *", /cron expression/],
    ["*/0 * * * *", /cron expression/],
    ["0 22-4 * * *", /cron expression/],
    ["0 0 30 2 *", /never comes/],
  ])("is refused: %j", (cron, problem) => expect(problemOf(cron)).toMatch(problem));

  it.each([
    ["* * * * *", "UTC", "2026-01-31T09:30:00.001Z", ["01-31T09:31", "01-31T09:32"]],
    ["* * * * *", "UTC", "2026-01-31T09:30:00.000Z", ["01-31T09:31"]],
    // Either day is met, if both are given.
    ["0 9 13 * 5", "UTC", "2026-11-05T12:00Z", ["11-06T09:00", "11-13T09:00", "11-20T09:00"]],
    // Clocks go forward on 29 March from 2:00 to 3:00: a fixed time that is skipped comes once, when the clock goes on.
    ["30 2,14 * * *", "Europe/Berlin", "2026-03-28T12:00Z", ["03-28T13:30", "03-29T01:00", "03-29T12:30"]],
    ["0 2,3 * * *", "Europe/Berlin", "2026-03-28T01:30Z", ["03-28T02:00", "03-29T01:00", "03-30T00:00"]],
    // A step goes on as the clock does.
    ["*/30 * * * *", "Europe/Berlin", "2026-03-29T00:00Z", ["03-29T00:30", "03-29T01:00", "03-29T01:30"]],
    ["0 */2 * * *", "Europe/Berlin", "2026-03-28T22:00Z", ["03-28T23:00", "03-29T02:00"]],
    // Clocks go back on 25 October from 3:00 to 2:00: a fixed time that is repeated comes once, the first time.
    ["30 2,14 * * *", "Europe/Berlin", "2026-10-24T12:00Z", ["10-24T12:30", "10-25T00:30", "10-25T13:30"]],
    ["30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", ["10-25T00:30", "10-26T01:30"]],
    // A step comes in both hours.
    ["*/30 0-2 * * *", "Europe/Berlin", "2026-10-25T00:15Z", ["10-25T00:30", "10-25T01:00", "10-25T01:30"]],
  ])("%s in %s after %s comes at %j", (cron, timezone, after, expected) => {
    expect(slots(cron, timezone, after, expected.length)).toEqual(expected);
  });
});

it("a time zone has an IANA name", () => {
  const hasProblem = (name: string) => problemOf("* * * * *", name) !== null;
  expect(["UTC", "Europe/Berlin", "America/New_York"].filter(hasProblem)).toEqual([]);
  const refused = ["", "Nowhere", "Europe/Atlantis", "9"];
  expect(refused.filter(hasProblem)).toEqual(refused);
});

describe("after a stop", () => {
  const latest = (schedule: Schedule, first: string, now: string) =>
    new Date(latestSlot(schedule, time(first), time(now))).toISOString().slice(0, 16);

  it.each([
    ["0 * * * *", "2026-01-31T09:00Z", "2026-01-31T09:59:59.999Z", "2026-01-31T09:00"],
    ["* * * * *", "2026-01-31T09:00Z", "2027-01-31T09:30:10.000Z", "2027-01-31T09:30"],
    ["0 9 1 1 *", "2026-01-01T09:00Z", "2031-12-31T23:59:59.000Z", "2031-01-01T09:00"],
    ["*/5 9 * * 1", "2026-11-16T09:00Z", "2026-11-22T18:00:00.000Z", "2026-11-16T09:55"],
  ])("the latest slot of %s from %s to %s is %s", (cron, first, now, expected) => {
    expect(latest({ cron, timezone: "UTC" }, first, now)).toBe(expected);
  });

  it("is found among all slots, whatever the zone", () => {
    const schedule = { cron: "*/20 1-3 * * *", timezone: "Europe/Berlin" };
    const first = nextSlot(schedule, time("2026-10-24T12:00Z")) ?? 0;
    for (let slot = first; slot < time("2026-10-27T00:00Z"); ) {
      const following = nextSlot(schedule, slot) ?? 0;
      expect(isSlot(schedule, slot)).toBe(true);
      expect(isSlot(schedule, slot + MINUTE_MS)).toBe(following === slot + MINUTE_MS);
      expect(latestSlot(schedule, first, slot)).toBe(slot);
      expect(latestSlot(schedule, first, following - 1)).toBe(slot);
      slot = following;
    }
  });
});
