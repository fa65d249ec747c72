/** Workflows across the network: a run on an event, and a run that a crash interrupts. */

import type { EventName } from "@atrium/contract/resources/events.ts";
import type { StorageFile } from "@atrium/contract/resources/file.ts";
import type { WorkflowExecution } from "@atrium/contract/rest/workflow-executions.ts";
import type { Workflow } from "@atrium/contract/rest/workflows.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../cli/processes.ts";
import { KillableService } from "../endurance/killable-service.ts";
import { Customer } from "./client.ts";

let service: KillableService;
let customer: Customer;

beforeAll(async () => {
  service = await KillableService.prepare();
  customer = new Customer(service, service.organization);
});
afterAll(() => service?.dispose());

async function createWorkflow(code: string, events: EventName[], roomId: string): Promise<Workflow> {
  const body = { name: "A workflow", code, events, roomId };
  const answer = await customer.send<{ workflow: Workflow }>("POST", "/workflows", body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.data.workflow;
}

const executionsOf = async ({ id }: Workflow) =>
  (
    await customer.send<{ executions: WorkflowExecution[]; total: number }>(
      "GET",
      `/workflows/${id}/executions`,
    )
  ).data;

const filesIn = async (roomId: string) =>
  (await customer.send<{ files: StorageFile[] }>("GET", `/files?roomId=${roomId}`)).data.files;

it("a workflow runs when a user joins over a socket, and its result and logs are recorded", async () => {
  const room = await customer.createRoom();
  const workflow = await createWorkflow(
    `export default async (event: { data: { userId: string } }, { room, files }) => {
      const users = await room.getUsers();
      const here = users.filter(({ status }) => status === "online").map(({ name }) => name);
      console.log("here now:", here);
      const { key } = await files.put("greeting.txt", "Welcome, " + here.join());
      return { greeted: event.data.userId, key };
    };`,
    ["participant.joined"],
    room.id,
  );
  const ada = await customer.createUser(room.id, "Ada");
  const tab = await customer.join(ada);
  await eventually("the run", async () => (await executionsOf(workflow)).total === 1);
  const [execution] = (await executionsOf(workflow)).executions;
  const [file] = await filesIn(room.id);
  expect(execution).toMatchObject({
    workflow_id: workflow.id,
    event: "participant.joined",
    status: "success",
    result: JSON.stringify({ greeted: ada.id, key: file?.key }),
    logs: [{ level: "log", message: 'here now: ["Ada"]' }],
  });
  expect(file).toMatchObject({ filename: "greeting.txt", uploadedBy: `workflow:${workflow.id}` });
  expect(await (await fetch(file?.url ?? "")).text()).toBe("Welcome, Ada");
  tab.socket.close();
});

it("a run that a crash interrupted is recorded as failed and not repeated", async () => {
  const room = await customer.createRoom();
  const workflow = await createWorkflow(
    `export default async (event, { files }) => {
      await files.put(event.user.name + ".txt", "started");
      if (event.user.name === "Ada") await new Promise((resolve) => setTimeout(resolve, 25_000));
    };`,
    ["user.created"],
    room.id,
  );
  await customer.createUser(room.id, "Ada");
  await customer.createUser(room.id, "Bo");
  await eventually("the run has started", async () => (await filesIn(room.id)).length === 1);
  await service.kill();
  await service.start();
  await eventually("both are over", async () => (await executionsOf(workflow)).total === 2);
  expect((await executionsOf(workflow)).executions).toMatchObject([
    { status: "success", result: "null" },
    {
      status: "failed",
      result:
        "The run was interrupted by a restart of the service. It is not repeated: a workflow runs at most once per event",
    },
  ]);
  expect((await filesIn(room.id)).map(({ filename }) => filename)).toEqual(["Bo.txt", "Ada.txt"]);
});

describe("Workflows as in production: uploaded to a dispatch namespace through its API, and called through its binding", () => {
  beforeAll(async () => {
    service = await KillableService.prepare("dispatch");
    customer = new Customer(service, service.organization);
  });
  afterAll(() => service?.dispose());

  /** Waits for this many finished runs, and returns them, newest first. */
  async function finished(workflow: Workflow, count: number): Promise<WorkflowExecution[]> {
    await eventually(`${count} executions`, async () => (await executionsOf(workflow)).total >= count);
    return (await executionsOf(workflow)).executions;
  }

  it("a workflow runs on an event with its bindings, and its new version from the next event on", async () => {
    const { id: roomId } = await customer.createRoom();
    const workflow = await createWorkflow(
      `export default async ({ user }, { room, files }) => {
      const { key } = await files.put("welcome.txt", "Welcome, " + user.name);
      console.log((await room.getUsers()).map(({ name }) => name).join());
      return (await files.get(key)).text();
    };`,
      ["user.created"],
      roomId,
    );
    await customer.createUser(roomId, "Ada");
    expect(await finished(workflow, 1)).toMatchObject([
      { status: "success", result: '"Welcome, Ada"', logs: [{ level: "log", message: "Ada" }] },
    ]);
    const code = "export default ({ user }) => user.name.length;";
    await customer.send("PATCH", `/workflows/${workflow.id}`, { code });
    await customer.createUser(roomId, "Cleo");
    expect(await finished(workflow, 2)).toMatchObject([{ status: "success", result: "4" }, {}]);
  });
});
