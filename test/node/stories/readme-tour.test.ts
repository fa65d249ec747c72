/** The README's five-minute tour, executed as it is printed. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { AtriumServer, type EventName, type WorkflowExecution } from "atrium/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Received, startReceiver } from "../../support/receiver.ts";
import { eventually, ROOT } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { readDocument } from "../docs/markdown.ts";
import { expectedOf, readTour, runTour } from "../docs/tour.ts";
import { KillableService } from "../endurance/killable-service.ts";
import { Customer } from "./client.ts";

const service = await sharedService();
const directory = await mkdtemp(path.join(tmpdir(), "atrium-tour-"));

afterAll(() => rm(directory, { recursive: true }));

it("the commands of the README's tour print what it says", async () => {
  const steps = readTour(await readDocument("README.md"));
  expect(steps.length).toBeGreaterThanOrEqual(5);
  // A person reads the response to JOIN_ROOM before going on.
  const adapt = (script: string) =>
    script.replace("& ADA=$!", "> joined & ADA=$!\nuntil [ -s joined ]; do :; done");
  expect(await runTour(steps, service, directory, adapt, false)).toEqual(expectedOf(steps));
  expect(await readdir(directory)).toEqual(["joined"]); // the test's own
  const joined = JSON.parse((await readFile(path.join(directory, "joined"), "utf8")).split("\n")[0] ?? "");
  expect(joined).toMatchObject({
    type: "response",
    success: true,
    data: { user: { name: "Ada", status: "online" } },
  });
});

describe("The example workflows in the sources, run on real events", () => {
  let killable: KillableService;
  let customer: Customer;
  let atrium: AtriumServer;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let roomId: string;

  beforeAll(async () => {
    [killable, receiver] = [await KillableService.prepare(), await startReceiver()];
    const { accountId, apiKey } = killable.organization;
    customer = new Customer(killable, killable.organization);
    atrium = new AtriumServer({ serverUrl: killable.url, accountId, apiKey });
    roomId = (await atrium.rooms.create({ name: "Weekly planning" })).id;
  });
  afterAll(async () => {
    await killable?.dispose();
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
});
