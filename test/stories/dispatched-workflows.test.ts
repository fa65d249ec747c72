/** Workflows as in production: uploaded to a dispatch namespace through its API, and called through its binding. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { WorkflowExecution } from "../../src/features/workflows/execution-schema.ts";
import type { Workflow } from "../../src/features/workflows/schema.ts";
import { eventually } from "../cli/processes.ts";
import { KillableService } from "../endurance/killable-service.ts";
import { Customer } from "./client.ts";

let service: KillableService;
let customer: Customer;
beforeAll(async () => {
  service = await KillableService.prepare("dispatch");
  customer = new Customer(service, service.organization);
});
afterAll(() => service?.dispose());

async function create(code: string, roomId: string): Promise<Workflow> {
  const body = { name: "A workflow", code, events: ["user.created"], roomId };
  const { data, error } = await customer.send<{ workflow: Workflow }>("POST", "/workflows", body);
  expect(error).toBeNull();
  return data.workflow;
}

/** Waits for this many finished runs, and returns them, newest first. */
async function executionsOf({ id }: Workflow, count: number): Promise<WorkflowExecution[]> {
  let executions: WorkflowExecution[] = [];
  await eventually(`${count} executions`, async () => {
    const path = `/workflows/${id}/executions`;
    executions = (await customer.send<{ executions: WorkflowExecution[] }>("GET", path)).data.executions;
    return executions.length >= count;
  });
  return executions;
}

it("a workflow runs on an event with its bindings, and its new version from the next event on", async () => {
  const { id: roomId } = await customer.createRoom();
  const workflow = await create(
    `export default async ({ user }, { room, files }) => {
      const { key } = await files.put("welcome.txt", "Welcome, " + user.name);
      console.log((await room.getUsers()).map(({ name }) => name).join());
      return (await files.get(key)).text();
    };`,
    roomId,
  );
  await customer.createUser(roomId, "Ada");
  expect(await executionsOf(workflow, 1)).toMatchObject([
    { status: "success", result: '"Welcome, Ada"', logs: [{ level: "log", message: "Ada" }] },
  ]);
  const code = "export default ({ user }) => user.name.length;";
  await customer.send("PATCH", `/workflows/${workflow.id}`, { code });
  await customer.createUser(roomId, "Cleo");
  expect(await executionsOf(workflow, 2)).toMatchObject([{ status: "success", result: "4" }, {}]);
});
