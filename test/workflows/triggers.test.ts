/** The HTTP trigger of workflows: credentials, one run for each message, and its input. */

import { WorkflowTriggeredEvent } from "@atrium/contract/resources/workflow-events.ts";
import type { CurrentExecution } from "@atrium/contract/rest/workflow-executions.ts";
import { MAX_TRIGGER_BYTES, type WorkflowWithSecret } from "@atrium/contract/rest/workflow-triggers.ts";
import { Webhook } from "standardwebhooks";
import { beforeEach, describe, expect, it } from "vitest";
import { type Account, type Answer, Api, account } from "../support/api.ts";
import { RunGate } from "./gate.ts";
import { TestWorkflow } from "./test-workflow.ts";

const CODE = "export default (event) => event;";
const PAYLOAD = '{"order": 8731, "note": "é"}';
const MINUTE_MS = 60_000;

type Started = { execution: { id: string } };

let owner: Account;
let subject: TestWorkflow;
beforeEach(async () => {
  owner = await account();
  subject = await TestWorkflow.create(owner.api, CODE, { events: [], httpTrigger: true });
});

const rotate = async (): Promise<string> => {
  const path = `${subject.path}/trigger/rotate-secret`;
  const answer = await owner.api.post<{ workflow: WorkflowWithSecret }>(path);
  return answer.data.workflow.trigger_secret;
};

function headersOf(secret: string, id: string, body: string, at = Date.now()): Record<string, string> {
  return {
    "Content-Type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": `${Math.floor(at / 1000)}`,
    "webhook-signature": new Webhook(secret).sign(id, new Date(at), body),
  };
}

const send = (
  headers: Record<string, string>,
  body: string = PAYLOAD,
  path = subject.path,
): Promise<Answer<Started>> => new Api(owner.id, null).send("POST", `${path}/trigger`, { headers, body });

const refusal = ({ status, error }: Answer<unknown>) => [status, error?.code, error?.module];
const REFUSED = [401, "UNAUTHORIZED", "Workflows"];

describe("a signed request", () => {
  it("starts the workflow with its body, and answers 202 with the execution", async () => {
    const secret = await rotate();
    const answer = await send(headersOf(secret, "message-1", PAYLOAD));
    expect(answer).toMatchObject({ status: 202, description: "Workflow triggered" });
    const { workflow } = subject;
    const [execution] = await subject.ran(1);
    expect(execution).toMatchObject({ ...answer.data.execution, event: "workflow.triggered" });
    expect(WorkflowTriggeredEvent.parse(JSON.parse(execution?.result ?? ""))).toEqual({
      id: execution?.id,
      event: "workflow.triggered",
      timestamp: expect.any(String),
      data: { workflowId: workflow.id, roomId: null, messageId: "message-1", payload: JSON.parse(PAYLOAD) },
      workflow: { id: workflow.id, name: "A workflow" },
    });
  });

  it("runs it once for each message, however often that is sent, and at once for two", async () => {
    const secret = await rotate();
    const first = headersOf(secret, "message-1", PAYLOAD);
    const again = headersOf(secret, "message-1", PAYLOAD, Date.now() + MINUTE_MS);
    const answers = await Promise.all([first, again, first].map((headers) => send(headers)));
    const other = await send(headersOf(secret, "message-2", PAYLOAD));
    const ids = answers.map(({ data }) => data.execution.id);
    expect(new Set(ids).size).toBe(1);
    const executions = await subject.ran(2);
    expect(executions.map(({ id }) => id).sort()).toEqual([ids[0], other.data.execution.id].sort());
  });

  it("is refused unless the secret signed exactly this, lately", async () => {
    const secret = await rotate();
    const good = headersOf(secret, "message-1", PAYLOAD);
    const { "webhook-id": _, ...anonymous } = good;
    const foreign = headersOf(`whsec_${btoa("x".repeat(32))}`, "message-1", PAYLOAD);
    for (const headers of [
      anonymous,
      foreign,
      { ...good, "webhook-id": "message-2" },
      { ...good, "webhook-signature": "v1,AAAA" },
      { ...good, "webhook-signature": good["webhook-signature"]?.replace("v1,", "v2,") ?? "" },
      headersOf(secret, "message-1", PAYLOAD, Date.now() - 6 * MINUTE_MS),
      headersOf(secret, "message-1", PAYLOAD, Date.now() + 6 * MINUTE_MS),
    ]) {
      expect(refusal(await send(headers)), JSON.stringify(headers)).toEqual(REFUSED);
    }
    expect(refusal(await send(good, `${PAYLOAD} `))).toEqual(REFUSED);
    expect(refusal(await send(good, PAYLOAD, `/workflows/${crypto.randomUUID()}`))).toEqual(REFUSED);
    expect(await send(good)).toMatchObject({ status: 202 });
  });

  it("may have the signatures of several secrets: a rotated one holds for a day, a deleted one no longer", async () => {
    const old = await rotate();
    const secret = await rotate();
    const [first, second] = [headersOf(old, "1", PAYLOAD), headersOf(secret, "2", PAYLOAD)];
    expect(await send(first)).toMatchObject({ status: 202 });
    expect(await send(second)).toMatchObject({ status: 202 });
    const now = Date.now();
    const both = [old, secret].map((one) => headersOf(one, "3", PAYLOAD, now)["webhook-signature"]);
    await rotate();
    const signature = both.join(" v1a,x ");
    const third = { ...headersOf(secret, "3", PAYLOAD, now), "webhook-signature": signature };
    expect(refusal(await send(headersOf(old, "4", PAYLOAD)))).toEqual(REFUSED);
    expect(await send(third)).toMatchObject({ status: 202 });
    const deleted = await owner.api.delete(`${subject.path}/trigger/secret`);
    expect(deleted.data).toMatchObject({ workflow: { trigger_secret_created_at: null } });
    expect(refusal(await send(headersOf(secret, "5", PAYLOAD)))).toEqual(REFUSED);
  });
});

describe("the organization's credential", () => {
  it("starts the workflow, too, once for each Idempotency-Key", async () => {
    const headers = { "Content-Type": "application/json", "Idempotency-Key": "order-8731" };
    const trigger = () =>
      owner.api.send<Started>("POST", `${subject.path}/trigger`, { headers, body: PAYLOAD });
    const [first, second] = [await trigger(), await trigger()];
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(second.data).toEqual(first.data);
    const [result] = await subject.results(1);
    expect(result).toMatchObject({ data: { messageId: "order-8731", payload: { order: 8731 } } });
  });

  it("receives the reason when it cannot start", async () => {
    const trigger = (path: string, body: unknown = {}) => owner.api.post(`${path}/trigger`, body);
    expect(refusal(await trigger(`/workflows/${crypto.randomUUID()}`))).toEqual([
      404,
      "NOT_FOUND",
      "Workflows",
    ]);
    expect(await trigger(subject.path, "x".repeat(MAX_TRIGGER_BYTES))).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", message: expect.stringContaining(`${MAX_TRIGGER_BYTES} bytes`) },
    });
    await subject.change({ enabled: false });
    expect(await trigger(subject.path)).toMatchObject({ status: 409 });
    await subject.change({ enabled: true, httpTrigger: false, events: ["user.created"] });
    expect(await trigger(subject.path)).toMatchObject({
      status: 409,
      error: { message: "The workflow has no HTTP trigger; set httpTrigger to true" },
    });
  });
});

describe("an execution", () => {
  const read = (id: string, { api } = owner, path = subject.path) =>
    api.get<{ execution: CurrentExecution }>(`${path}/executions/${id}`);
  const found = async (id: string) => (await read(id)).data.execution;

  it("is found from the response to its trigger on: running or pending, and then as it ended", async () => {
    const gate = new RunGate();
    await subject.change({ code: gate.codeReturning("done") });
    const trigger = async () =>
      (await owner.api.post<Started>(`${subject.path}/trigger`, {})).data.execution.id;
    const first = await trigger();
    expect(await found(first)).toEqual({
      id: first,
      workflow_id: subject.workflow.id,
      event: "workflow.triggered",
      ...{ status: "running", result: null, attempts: 0, duration_ms: 0, logs: [] },
      created_at: expect.any(String),
      request_id: expect.any(String),
    });
    for (let inFlight = 1; inFlight < 6; inFlight += 1) await trigger();
    const seventh = await trigger();
    expect(await found(seventh)).toMatchObject({ id: seventh, status: "pending", result: null });
    await gate.open();
    const executions = await subject.ran(7);
    expect(executions).toContainEqual(expect.objectContaining({ id: seventh, result: '"done"' }));
    for (const execution of executions) expect(await found(execution.id)).toEqual(execution);
  });

  it("is found when it was started by hand, and under no other workflow, organization or id", async () => {
    const { id: roomId } = await owner.api.createRoom();
    const { execution } = (await subject.run("session.started", { roomId })).data;
    expect(await found(execution.id)).toEqual(execution);
    const other = await TestWorkflow.create(owner.api, CODE);
    for (const answer of [
      await read(crypto.randomUUID()),
      await read("x"),
      await read(execution.id, owner, other.path),
      await read(execution.id, await account()),
    ])
      expect(refusal(answer)).toEqual([404, "NOT_FOUND", "Workflows"]);
  });
});

it("the secret is shown once, and never with the workflow", async () => {
  const secret = await rotate();
  const { data } = await owner.api.get(subject.path);
  expect(data).toMatchObject({ workflow: { trigger_secret_created_at: expect.any(String) } });
  const list = await owner.api.get("/workflows");
  expect(JSON.stringify([data, list.data])).not.toContain(secret);
});
