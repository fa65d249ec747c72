/** Workflows through `atrium/server`: created, run and inspected. */

import {
  AtriumError,
  type AtriumEvent,
  AtriumServer,
  verifyWebhook,
  verifyWebhookBatch,
} from "atrium/server";
import { Webhook as Signer } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Received, startReceiver } from "../../support/receiver.ts";
import { eventually } from "../cli/processes.ts";
import { type SharedService, sharedService } from "../cli/shared-service.ts";

describe("AtriumServer.workflows", () => {
  let service: SharedService;
  let atrium: AtriumServer;
  let roomId: string;

  beforeAll(async () => {
    service = await sharedService();
    const { url: serverUrl, accountId, apiKey } = service;
    atrium = new AtriumServer({ serverUrl, accountId, apiKey });
    roomId = (await atrium.rooms.create({ name: "Weekly planning" })).id;
  });

  it("creates, finds, updates and deletes workflows", async () => {
    const { workflows } = atrium;
    const code = "export default () => 1;";
    const created = await workflows.create({ name: "Count", code, events: ["session.closed"], roomId });
    expect(created).toMatchObject({ code, events: ["session.closed"], room_id: roomId, enabled: true });
    expect(await workflows.get(created.id)).toEqual(created);
    expect(await workflows.list({ search: "COUNT", limit: 1 })).toEqual({
      workflows: [created],
      total: 1,
      limit: 1,
      offset: 0,
    });
    const changes = { name: "Sum", events: ["session.started"], enabled: false } as const;
    expect(await workflows.update(created.id, { ...changes, roomId: null })).toMatchObject({
      ...changes,
      room_id: null,
    });
    await workflows.update(created.id, { code: "export default () => 2;" });
    const { versions } = await workflows.listVersions(created.id, { limit: 1 });
    expect(versions).toMatchObject([{ version: 2, saved_by: { type: "key" } }]);
    expect(await workflows.getVersion(created.id, 1)).toMatchObject({ version: 1, code });
    expect(await workflows.restoreVersion(created.id, 1)).toMatchObject({ version: 3, code });
    await workflows.delete(created.id);
    await expect(workflows.get(created.id)).rejects.toMatchObject({ code: "NOT_FOUND", module: "Workflows" });
  });

  it("runs a workflow, which has a secret and acts in its room, and returns its result and logs", async () => {
    const code = `
      import type { Workflow } from "atrium/workflow";
      const greet: Workflow<"user.created"> = async ({ user }, { room, env, actions }) => {
        console.log("Hello", user.name, env.TOKEN);
        await actions.stores.set("greeted", user.name, { tokenLength: env.TOKEN.length });
        return { room: (await room.get())?.name };
      };
      export default greet;`;
    const { id } = await atrium.workflows.create({ name: "Greet", code, events: ["user.created"], roomId });
    await atrium.workflows.setSecret(id, "TOKEN", "a token of another service");
    const { id: userId } = await atrium.users.create({ roomId, name: "Ada" });
    const execution = await atrium.workflows.run(id, "user.created", { roomId, userId });
    expect(execution).toMatchObject({
      workflow_id: id,
      status: "success",
      result: '{"room":"Weekly planning"}',
      logs: [{ level: "log", message: "Hello Ada ***" }],
    });
    expect(await atrium.stores.get(roomId, "greeted", "Ada")).toMatchObject({ value: { tokenLength: 26 } });
    const { executions } = await atrium.workflows.listExecutions(id, { limit: 10 });
    expect(executions).toContainEqual(execution);
  });

  it("starts a workflow by the clock and by requests", async () => {
    const { workflows } = atrium;
    const schedule = { cron: "0 0 1 1 *", timezone: "Europe/Berlin" };
    const code = "export default ({ data }) => data.payload.order;";
    const created = await workflows.create({ name: "Order", code, events: [], schedule, httpTrigger: true });
    expect(created).toMatchObject({ schedule, http_trigger: true, trigger_secret_created_at: null });
    expect(created.next_run_at).toMatch(/-12-31T23:00:00\.000Z$/);
    const { id } = await workflows.trigger(created.id, { order: 8731 });
    await eventually("the run is finished", async () => {
      const execution = await workflows.getExecution(created.id, id);
      return execution.status === "success" && execution.result === "8731";
    });
    const { trigger_secret } = await workflows.rotateTriggerSecret(created.id);
    expect(trigger_secret).toMatch(/^whsec_/);
    expect(await workflows.deleteTriggerSecret(created.id)).toMatchObject({
      trigger_secret_created_at: null,
    });
  });

  it("rejects invalid code with the line and column of the error", async () => {
    const creation = atrium.workflows.create({
      name: "Wrong",
      code: "export default () => {\n  return 1 +;\n};",
      events: ["user.created"],
    });
    await expect(creation).rejects.toMatchObject({ code: "VALIDATION_ERROR", module: "Workflows" });
    await expect(creation).rejects.toThrow("code: line 2, column 13");
  });

  it("returns the error of a run that fails", async () => {
    const code = "export default (event) => {\n  return event.missing.name;\n};";
    const { id } = await atrium.workflows.create({ name: "Fail", code, events: ["session.closed"], roomId });
    const { status, result } = await atrium.workflows.run(id, "session.closed", { roomId });
    expect({ status, result }).toEqual({
      status: "failed",
      result: expect.stringMatching(/^TypeError: .*missing.* \(line 2\)|^TypeError: .* \(line 2\)/),
    });
  });
});

// Webhooks through `atrium/server`: created, received by a real server, and verified.

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BODY = '{"event":"user.created","data":{"roomId":"r","userId":"u"}}';

const signed = (body: string, at = new Date()) => ({
  "webhook-id": "an-event",
  "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
  "webhook-signature": new Signer(SECRET).sign("an-event", at, body),
});

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);

describe("verifying a message", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("returns the events of a batch, or the one of a message without", () => {
    const batch = `[${BODY},${BODY}]`;
    const event = JSON.parse(BODY);
    expect(verifyWebhookBatch(batch, signed(batch), SECRET)).toEqual([event, event]);
    expect(verifyWebhookBatch(BODY, signed(BODY), SECRET)).toEqual([event]);
    expect(() => verifyWebhookBatch(batch, signed(BODY), SECRET)).toThrow("could not be verified");
    expect(() => verifyWebhook(batch, signed(batch), SECRET)).toThrow("use verifyWebhookBatch");
  });

  it("returns the event from text or bytes, with headers from the Fetch API or Node.js", () => {
    const headers = signed(BODY);
    const expected = JSON.parse(BODY);
    const capitals = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    expect(verifyWebhook(BODY, headers, SECRET)).toEqual(expected);
    expect(verifyWebhook(BODY, new Headers(headers), SECRET)).toEqual(expected);
    expect(verifyWebhook(BODY, { ...capitals, Accept: undefined, "set-cookie": ["a"] }, SECRET)).toEqual(
      expected,
    );
    expect(verifyWebhook(new TextEncoder().encode(BODY), headers, SECRET)).toEqual(expected);
    expect(verifyWebhook(Buffer.from(BODY), headers, SECRET)).toEqual(expected);
    const foreign = { ...headers, "webhook-signature": `v1a,x v1,AAAA ${headers["webhook-signature"]}` };
    expect(verifyWebhook(BODY, foreign, SECRET)).toEqual(expected);
  });

  it("accepts the specification's published example, at its timestamp", () => {
    vi.useFakeTimers({ now: 1_614_265_330_000 });
    const headers = {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    };
    expect(verifyWebhook('{"test": 2432232314}', headers, SECRET)).toEqual({ test: 2_432_232_314 });
  });

  it.each([
    ["another body", `${BODY} `, signed(BODY), SECRET],
    ["a byte order mark", new TextEncoder().encode(`\uFEFF${BODY}`), signed(BODY), SECRET],
    ["another secret", BODY, signed(BODY), "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"],
    ["a malformed secret", BODY, signed(BODY), "whsec_?"],
    ["another id", BODY, { ...signed(BODY), "webhook-id": "another" }, SECRET],
    ["another time", BODY, { ...signed(BODY), "webhook-timestamp": `${Date.now()}`.slice(0, 9) }, SECRET],
    ["no time", BODY, { ...signed(BODY), "webhook-timestamp": "now" }, SECRET],
    ["no signature", BODY, { ...signed(BODY), "webhook-signature": "" }, SECRET],
    ["half a signature", BODY, { ...signed(BODY), "webhook-signature": "v1,AAAA" }, SECRET],
    ["no headers", BODY, {}, SECRET],
    ["an old signature", BODY, signed(BODY, ago(310)), SECRET],
    ["a signature from the future", BODY, signed(BODY, ago(-600)), SECRET],
    ["no JSON", "hello", signed("hello"), SECRET],
  ])("refuses %s", (_, body, headers, secret) => {
    const refusal = { name: "AtriumError", code: "INVALID_SIGNATURE", module: "Webhooks" };
    expect(() => verifyWebhook(body, headers, secret)).toThrow(expect.objectContaining(refusal));
    expect(() => verifyWebhook(body, headers, secret)).toThrow(AtriumError);
  });
});

describe("AtriumServer.webhooks", () => {
  let service: SharedService;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let atrium: AtriumServer;

  beforeAll(async () => {
    [service, receiver] = [await sharedService(), await startReceiver()];
    const { url: serverUrl, accountId, apiKey } = service;
    atrium = new AtriumServer({ serverUrl, accountId, apiKey });
  });
  afterAll(async () => {
    await receiver?.stop();
  });

  const urlOf = (name: string) => `http://localhost:${receiver.port}/ok/${name}`;
  const receivedAt = async (name: string): Promise<readonly Received[]> =>
    (await (await fetch(`http://127.0.0.1:${receiver.port}/received/${name}`)).json()) as Received[];
  const messagesAt = async (name: string, count: number): Promise<readonly Received[]> => {
    let messages: readonly Received[] = [];
    await eventually(`${count} messages`, async () => {
      messages = await receivedAt(name);
      return messages.length >= count;
    });
    return messages;
  };

  it("subscribes to events, which arrive signed and in order", async () => {
    const { id: roomId } = await atrium.rooms.create({ name: "Weekly planning" });
    const events = ["user.created", "user.updated", "user.deleted"] as const;
    const { secret } = await atrium.webhooks.create({ url: urlOf("received"), events, roomId });
    const ada = await atrium.users.create({ roomId, name: "Ada" });
    await atrium.users.update(roomId, ada.id, { name: "Ada B" });
    await atrium.users.delete(roomId, ada.id);
    const messages = await messagesAt("received", 3);
    const received = messages.map(({ body, headers }): AtriumEvent => verifyWebhook(body, headers, secret));
    expect(received.map(({ event }) => event)).toEqual(events);
    expect(received.map((event) => ("user" in event ? event.user.name : ""))).toEqual([
      "Ada",
      "Ada B",
      "Ada B",
    ]);
    expect(received[0]).toMatchObject({ data: { roomId, userId: ada.id }, room: { id: roomId } });
    expect(JSON.stringify(received)).not.toContain(ada.token);
    expect(messages[0]?.headers["webhook-id"]).toBe(received[0]?.id);
  });

  it("creates, finds, updates and deletes webhooks", async () => {
    const { webhooks } = atrium;
    const { secret, ...created } = await webhooks.create({ url: urlOf("kept"), events: ["session.closed"] });
    expect(secret).toMatch(/^whsec_/);
    expect(await webhooks.get(created.id)).toEqual(created);
    expect(await webhooks.list({ search: "/KEPT", limit: 1 })).toEqual({
      webhooks: [created],
      total: 1,
      limit: 1,
      offset: 0,
    });
    const changes = { url: urlOf("moved"), events: ["session.started"], enabled: false } as const;
    expect(await webhooks.update(created.id, changes)).toMatchObject(changes);
    await webhooks.delete(created.id);
    await expect(webhooks.get(created.id)).rejects.toMatchObject({ code: "NOT_FOUND", module: "Webhooks" });
  });

  it("tests a webhook, lists its deliveries, and redelivers with both secrets after a rotation", async () => {
    const { webhooks } = atrium;
    const { id, secret } = await webhooks.create({ url: urlOf("tried"), events: ["participant.joined"] });
    const delivery = await webhooks.test(id);
    expect(delivery).toMatchObject({ status: "success", event: "participant.joined", attempts: 1 });
    expect(await webhooks.listDeliveries(id, { status: "success" })).toMatchObject({
      deliveries: [delivery],
      total: 1,
    });
    const rotated = await webhooks.rotateSecret(id);
    const again = await webhooks.redeliver(id, delivery.id);
    expect(again.payload).toBe(delivery.payload);
    const [first, second] = await messagesAt("tried", 2);
    const verify = (message: Received | undefined, by: string) =>
      verifyWebhook(message?.body ?? "", message?.headers ?? {}, by);
    expect(verify(first, secret)).toEqual(JSON.parse(delivery.payload));
    expect(verify(second, secret)).toEqual(verify(second, rotated.secret));
    expect(() => verify(first, rotated.secret)).toThrow("could not be verified");
  });

  it("rejects a URL that events cannot be sent to", async () => {
    const creation = atrium.webhooks.create({ url: "http://10.0.0.1/", events: ["user.created"] });
    await expect(creation).rejects.toMatchObject({ code: "VALIDATION_ERROR", module: "Webhooks" });
    const looping = atrium.webhooks.create({ url: `${service.url}/v1`, events: ["user.created"] });
    await expect(looping).rejects.toThrow("url: must not lead back to this service");
  });
});
