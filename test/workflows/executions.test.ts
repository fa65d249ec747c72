/** Executions over REST: on which events workflows run, in which order, and how runs end. */

import { Event, EventName } from "@atrium/contract/resources/events.ts";
import type { StorageFile } from "@atrium/contract/resources/file.ts";
import type { Room } from "@atrium/contract/resources/room.ts";
import type { WorkflowExecution } from "@atrium/contract/rest/workflow-executions.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { RecordingSubscriber } from "../delivery/recording-subscriber.ts";
import { TestQueue } from "../delivery/test-queue.ts";
import { type Account, account, refusalOf } from "../support/api.ts";
import { RunGate } from "./gate.ts";
import { CODE, TestWorkflow } from "./test-workflow.ts";

/** Returns the name of the user whom the event is about. */
const NAMES = "export default async (event) => event.user.name;";
const UNUSED = crypto.randomUUID();

let owner: Account;
let room: Room;

beforeEach(async () => {
  owner = await account();
  room = await owner.api.createRoom({ name: "Weekly planning" });
});

const createUsers = async (...names: string[]) => {
  for (const name of names) await owner.api.createUser(room.id, { name });
};

describe("a workflow", () => {
  it("runs on an event, and keeps what it returns and logs", async () => {
    const testWorkflow = await TestWorkflow.create(
      owner.api,
      `export default async (event, { room }) => {
        const { name } = await room.get();
        console.log(event.user.name, "is in", name);
        return { greeted: event.data.userId };
      };`,
    );
    const user = await owner.api.createUser(room.id, { name: "Ada" });
    expect(await testWorkflow.ran(1)).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        workflow_id: testWorkflow.workflow.id,
        event: "user.created",
        status: "success",
        result: JSON.stringify({ greeted: user.id }),
        version: 1,
        attempts: 1,
        duration_ms: expect.any(Number),
        created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
        request_id: expect.any(String),
        logs: [{ level: "log", message: "Ada is in Weekly planning", timestamp: expect.any(String) }],
      },
    ]);
  });

  it("fails with what it throws, and keeps what it logged until then", async () => {
    const code =
      'export default async () => {\n  console.warn("so far");\n  throw new TypeError("no further");\n};';
    const testWorkflow = await TestWorkflow.create(owner.api, code);
    await createUsers("Ada");
    const [execution] = await testWorkflow.ran(1);
    expect(execution).toMatchObject({ status: "failed", logs: [{ level: "warn", message: "so far" }] });
    expect(execution?.result).toMatch(/^TypeError: no further \(line 3\)/);
  });

  it("is accepted with an import, which fails every run", async () => {
    const code = 'import pad from "left-pad";\nexport default async () => pad("a");\n';
    const testWorkflow = await TestWorkflow.create(owner.api, code);
    await createUsers("Ada");
    expect(await testWorkflow.ran(1)).toMatchObject([
      { status: "failed", result: expect.stringContaining('"left-pad"'), duration_ms: 0, logs: [] },
    ]);
  });

  it("receives the same event as a webhook", async () => {
    const events = EventName.options;
    const testWorkflow = await TestWorkflow.create(owner.api, "export default (event) => event;", { events });
    const subscriber = await RecordingSubscriber.create(owner.api);
    const user = await owner.api.createUser(room.id, { name: "Ada", customId: "ada" });
    await owner.api.patch(`/users/${user.id}?roomId=${room.id}`, { name: "Bo" });
    await owner.api.delete(`/users/${user.id}?roomId=${room.id}`);
    expect(await testWorkflow.results(3)).toEqual(await subscriber.receivedEvents(3));
    expect((await testWorkflow.executions()).map(({ event }) => event)).toEqual([
      "user.deleted",
      "user.updated",
      "user.created",
    ]);
  });

  it("runs for one room once it is limited to it", async () => {
    const other = await owner.api.createRoom();
    const testWorkflow = await TestWorkflow.create(owner.api, NAMES, { roomId: other.id });
    await createUsers("Ada");
    await testWorkflow.change({ roomId: null });
    await createUsers("Bo");
    expect(await testWorkflow.results(1)).toEqual(["Bo"]);
    await testWorkflow.change({ events: ["user.deleted"] });
    await createUsers("Cleo");
    await testWorkflow.change({ events: ["user.created"] });
    await createUsers("Dora");
    expect(await testWorkflow.results(2)).toEqual(["Bo", "Dora"]);
  });

  it("runs on the events of a room one at a time, and on other rooms meanwhile", async () => {
    const gate = new RunGate();
    const testWorkflow = await TestWorkflow.create(
      owner.api,
      `export default async (event) => {
        if (event.user.name === "Ada") await fetch("${gate.url}");
        return event.user.name;
      };`,
    );
    await createUsers("Ada", "Bo", "Cleo");
    await gate.reached();
    const other = await owner.api.createRoom();
    await owner.api.createUser(other.id, { name: "Dora" });
    expect(await testWorkflow.results(1)).toEqual(["Dora"]);
    await gate.open();
    expect((await testWorkflow.results(4)).slice(0, 3)).toEqual(["Ada", "Bo", "Cleo"]);
  });
});

it("a disabled workflow starts no pending run, and does not catch up on missed events", async () => {
  const gate = new RunGate();
  const testWorkflow = await TestWorkflow.create(owner.api, gate.codeReturning("ran"));
  await createUsers("Ada", "Bo", "Cleo");
  await gate.reached();
  await testWorkflow.change({ enabled: false });
  await createUsers("Dora");
  await gate.open();
  await testWorkflow.idle();
  expect(await testWorkflow.results(1)).toEqual(["ran"]);
  await testWorkflow.change({ enabled: true });
  await createUsers("Eve");
  expect(await testWorkflow.results(2)).toEqual(["ran", "ran"]);
  expect(await gate.arrived()).toHaveLength(2);
});

it("new code is used by the next run, while the run in progress finishes with the old code", async () => {
  const gate = new RunGate();
  const testWorkflow = await TestWorkflow.create(owner.api, gate.codeReturning("old"));
  await createUsers("Ada", "Bo");
  await gate.reached();
  await testWorkflow.change({ code: 'export default () => "new";' });
  await gate.open();
  expect(await testWorkflow.results(2)).toEqual(["old", "new"]);
  expect(await gate.arrived()).toHaveLength(1);
});

it("a deleted workflow lets its run finish with all its bindings; pending runs never start", async () => {
  const gate = new RunGate();
  const testWorkflow = await TestWorkflow.create(
    owner.api,
    `export default async (event, { files }) => {
        await fetch("${gate.url}", { method: "POST", body: event.id });
        await files.put(event.user.name + ".txt", "done");
      };`,
  );
  await createUsers("Ada", "Bo");
  await gate.reached();
  await owner.api.delete(testWorkflow.path);
  await gate.open();
  const names = async () =>
    (await owner.api.get<{ files: StorageFile[] }>(`/files?roomId=${room.id}`)).data.files.map(
      ({ filename }) => filename,
    );
  await expect.poll(names).toEqual(["Ada.txt"]);
  expect(await gate.arrived()).toHaveLength(1);
  expect((await owner.api.get(`${testWorkflow.path}/executions`)).status).toBe(404);
  const queue = new TestQueue({ kind: "workflow", accountId: owner.id, id: testWorkflow.workflow.id });
  await expect.poll(() => queue.tables()).toBe(0);
});

describe("the list of executions", () => {
  it("ends a page of large results early, and continues on the next one", async () => {
    const testWorkflow = await TestWorkflow.create(owner.api, 'export default () => "x".repeat(250_000);');
    const runs = 20;
    for (let run = 0; run < runs; run += 1) {
      await testWorkflow.run("session.started", { roomId: room.id });
    }
    const seen: string[] = [];
    let pages = 0;
    type Executions = { executions: WorkflowExecution[]; total: number; cursor: string | null };
    for (let cursor: string | null = ""; cursor !== null; pages += 1) {
      const path: string = `${testWorkflow.path}/executions?limit=100${cursor && `&after=${cursor}`}`;
      const { data } = await owner.api.get<Executions>(path);
      expect(data.total).toBe(runs);
      seen.push(...data.executions.map(({ id }) => id));
      cursor = data.cursor;
    }
    expect(seen).toHaveLength(runs);
    expect(new Set(seen).size).toBe(runs);
    expect(pages).toBeGreaterThan(1);
  });
});

describe("running a workflow by hand", () => {
  it.each(EventName.options)("passes a %s about the room and the user as they are", async (event) => {
    const testWorkflow = await TestWorkflow.create(owner.api, "export default (event) => event;");
    const user = await owner.api.createUser(room.id, { name: "Ada" });
    const { token: _, ...shown } = user;
    const answer = await testWorkflow.run(event, { roomId: room.id, userId: user.id });
    expect(answer.status).toBe(200);
    const { execution } = answer.data;
    expect(execution).toMatchObject({ workflow_id: testWorkflow.workflow.id, event, status: "success" });
    const given = Event.parse(JSON.parse(execution.result));
    expect(given).toMatchObject({
      event,
      data: { roomId: room.id },
      room: { ...room, total_users_created: 1 },
    });
    if ("user" in given) expect(given).toMatchObject({ data: { userId: user.id }, user: shown });
    if ("users" in given) expect(given.users).toEqual([shown]);
    expect((await testWorkflow.executions())[0]).toEqual(execution);
  });

  it("shows all users in session.closed unless one is named", async () => {
    const code = "export default (event) => event.users.map(({ name }) => name);";
    const testWorkflow = await TestWorkflow.create(owner.api, code);
    await createUsers("Ada", "Bo");
    const answer = await testWorkflow.run("session.closed", { roomId: room.id });
    expect(JSON.parse(answer.data.execution.result).toSorted()).toEqual(["Ada", "Bo"]);
  });

  it("does not wait for other runs, even of the same room", async () => {
    const gate = new RunGate();
    const testWorkflow = await TestWorkflow.create(
      owner.api,
      `export default async (event) => {
        if (event.event === "user.created") await fetch("${gate.url}");
        return event.event;
      };`,
    );
    await createUsers("Ada", "Bo");
    await gate.reached();
    const answer = await testWorkflow.run("session.started", { roomId: room.id });
    expect(answer.data.execution).toMatchObject({ status: "success", result: '"session.started"' });
    await gate.open();
    await testWorkflow.ran(3);
  });

  it("is refused while the workflow is disabled", async () => {
    const testWorkflow = await TestWorkflow.create(owner.api);
    await testWorkflow.change({ enabled: false });
    const answer = await testWorkflow.run("session.started", { roomId: room.id });
    expect([answer.status, answer.error]).toEqual([
      409,
      {
        module: "Workflows",
        code: "CONFLICT",
        message: "The workflow is disabled; enable it to run it",
      },
    ]);
    expect(await testWorkflow.executions()).toEqual([]);
  });

  it("requires a room of the organization, and a user of that room", async () => {
    const testWorkflow = await TestWorkflow.create(owner.api, CODE, { events: ["session.closed"] });
    const [other, stranger] = [await owner.api.createRoom(), await account()];
    const foreign = await stranger.api.createRoom();
    const [elsewhere, strange] = [
      await owner.api.createUser(other.id),
      await stranger.api.createUser(foreign.id),
    ];
    for (const [data, module] of [
      [{ roomId: UNUSED, userId: elsewhere.id }, "Rooms"],
      [{ roomId: foreign.id, userId: strange.id }, "Rooms"],
      [{ roomId: room.id, userId: UNUSED }, "Users"],
      [{ roomId: room.id, userId: elsewhere.id }, "Users"],
      [{ roomId: room.id, userId: strange.id }, "Users"],
    ] as const) {
      for (const event of ["participant.joined", "session.closed"] as const) {
        const answer = await testWorkflow.run(event, data);
        expect(refusalOf(answer)).toEqual([404, module, "NOT_FOUND"]);
      }
    }
    expect(await testWorkflow.executions()).toEqual([]);
  });

  it("requires a user when the event is about one", async () => {
    const testWorkflow = await TestWorkflow.create(owner.api);
    for (const event of EventName.options.filter(
      (name) => !/^(session|store|document|version|suggestion|room|access)\./.test(name),
    )) {
      const answer = await testWorkflow.run(event, { roomId: room.id });
      expect([answer.status, answer.error?.code, answer.error?.message]).toEqual([
        400,
        "VALIDATION_ERROR",
        "data.userId: is required for this event",
      ]);
    }
    for (const data of [{}, { roomId: "" }, { roomId: 7 }, "room", null]) {
      const answer = await owner.api.post(`${testWorkflow.path}/run`, { event: "session.started", data });
      expect([answer.status, answer.error?.code]).toEqual([400, "VALIDATION_ERROR"]);
      expect(answer.error?.message).toContain("data");
    }
  });

  it("happens once for concurrent requests with one Idempotency-Key, and again for another key", async () => {
    const gate = new RunGate();
    const testWorkflow = await TestWorkflow.create(owner.api, gate.codeReturning("ran"));
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const run = (event: EventName) =>
      owner.api.post<{ execution: WorkflowExecution }>(
        `${testWorkflow.path}/run`,
        { event, data: { roomId: room.id } },
        { headers },
      );
    const runs = [run("session.started"), run("session.started"), run("session.closed")];
    await gate.reached();
    await gate.open();
    const answers = await Promise.all(runs);
    const ids = answers.flatMap(({ data }) => data.execution?.id ?? []);
    expect(new Set(ids).size).toBe(1);
    expect(answers.map(({ status }) => status)).toContain(409);
    expect(await testWorkflow.executions()).toHaveLength(1);
    expect(await gate.arrived()).toHaveLength(1);
  });
});
