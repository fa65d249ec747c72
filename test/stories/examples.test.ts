/** The example workflows in the sources, run on real events. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { AtriumServer, type EventName, type WorkflowExecution } from "../../src/sdk/server/index.ts";
import { eventually, ROOT } from "../cli/processes.ts";
import { KillableService } from "../endurance/killable-service.ts";
import { type Received, startReceiver } from "../support/receiver.ts";
import { Customer } from "./client.ts";

let service: KillableService;
let customer: Customer;
let atrium: AtriumServer;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let roomId: string;

beforeAll(async () => {
  [service, receiver] = [await KillableService.prepare(), await startReceiver()];
  const { accountId, apiKey } = service.organization;
  customer = new Customer(service, service.organization);
  atrium = new AtriumServer({ serverUrl: service.url, accountId, apiKey });
  roomId = (await atrium.rooms.create({ name: "Weekly planning" })).id;
});
afterAll(async () => {
  await service?.dispose();
  await receiver?.stop();
});

/** Creates a workflow from an example, lets `cause` emit its event, and returns the execution. */
async function onEvent(
  example: string,
  event: EventName,
  cause: () => Promise<unknown>,
): Promise<WorkflowExecution> {
  const code = await readFile(path.join(ROOT, "src/features/workflows/examples", `${example}.ts`), "utf8");
  const { id } = await atrium.workflows.create({ name: example, code, events: [event], roomId });
  await cause();
  let executions: readonly WorkflowExecution[] = [];
  await eventually(`${example} ran`, async () => {
    ({ executions } = await atrium.workflows.listExecutions(id));
    return executions.length > 0;
  });
  await atrium.workflows.delete(id);
  const [execution] = executions;
  if (execution?.status !== "success") throw new Error(execution?.result);
  return execution;
}

const textAt = async (url: string): Promise<string> => (await fetch(url)).text();

it("notify-service notifies another service of who joined", async () => {
  const notify = `http://127.0.0.1:${receiver.port}/ok/notified`;
  const ada = await customer.createUser(roomId, "Ada");
  await atrium.stores.set(roomId, "settings", "notify", notify);
  const execution = await onEvent("notify-service", "participant.joined", async () => {
    const tab = await customer.join(ada);
    tab.socket.close();
  });
  expect(execution.result).toBe('{"notified":true}');
  const told = await textAt(`http://127.0.0.1:${receiver.port}/received/notified`);
  const messages = JSON.parse(told) as Received[];
  expect(messages.map(({ body }) => body)).toEqual(['{"text":"Ada has joined Weekly planning"}']);
});

it("summarize-session summarizes the session when the last user leaves", async () => {
  await atrium.stores.set(roomId, "tasks", "1", { title: "Buy milk", done: true });
  await atrium.stores.set(roomId, "tasks", "2", { title: "Plan the week", done: false });
  const bo = await customer.createUser(roomId, "Bo");
  const execution = await onEvent("summarize-session", "session.closed", async () => {
    const tab = await customer.join(bo);
    tab.socket.close();
    await tab.closed;
  });
  expect(execution.logs.map(({ message }) => message)).toEqual(["1 of 2 tasks are open"]);
  const summary = await textAt(JSON.parse(execution.result).summary);
  expect(summary).toMatch(
    /^# Weekly planning, \d{4}-\d\d-\d\d\n\nWith Bo\.\n\n- \[x\] Buy milk\n- \[ \] Plan the week\n$/,
  );
});

it("greet-user greets a new user with the names of the users online", async () => {
  const tab = await customer.join(await customer.createUser(roomId, "Cleo"));
  const execution = await onEvent("greet-user", "user.created", () => customer.createUser(roomId, "Dan"));
  tab.socket.close();
  const { greeted, welcome } = JSON.parse(execution.result);
  expect({ greeted, text: await textAt(welcome) }).toEqual({
    greeted: "Dan",
    text: "Welcome, Dan! Here now: Cleo.\n",
  });
});
