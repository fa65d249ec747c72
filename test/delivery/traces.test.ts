/** The way of a trace: from a request to what its receivers are sent, and to what deliveries and runs show. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { app } from "../../src/app.ts";
import type { ApiRequest } from "../../src/features/request-log/schema.ts";
import type { Room } from "../../src/wire/room.ts";
import { account } from "../support/api.ts";
import { RecordingSubscriber } from "./recording-subscriber.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`;

it("a receiver is sent the ID of the request and the client's trace context, which the signature leaves out", async () => {
  const owner = await account();
  const subscriber = await RecordingSubscriber.create(owner.api, { events: ["room.created"] });
  const create = async (headers: Record<string, string>) => {
    const body = JSON.stringify({ name: "A room" });
    const init = { headers: { "Content-Type": "application/json", ...headers }, body };
    const request = owner.api.request("POST", "/rooms", init);
    const execution = createExecutionContext();
    const response = await app.fetch(request, { ...env, REQUEST_LOG: "on" }, execution);
    await waitOnExecutionContext(execution);
    return response.headers.get("X-Request-Id") ?? "";
  };
  const traced = await create({ traceparent: TRACEPARENT, "X-Request-Id": "mine-1" });
  const plain = await create({ traceparent: "no trace", "X-Request-Id": "no id!" });
  expect([traced, plain]).not.toContain("mine-1");
  const [latest, first] = await subscriber.settled(2);
  expect([first?.request_id, latest?.request_id]).toEqual([traced, plain]);
  expect(first?.log[0]?.request_headers).toMatchObject({
    "atrium-request-id": traced,
    traceparent: TRACEPARENT,
  });
  const [sentFirst, sentLatest] = await subscriber.received();
  expect(sentFirst?.headers).toMatchObject({ "atrium-request-id": traced, traceparent: TRACEPARENT });
  expect(sentLatest?.headers).toMatchObject({ "atrium-request-id": plain });
  expect(sentLatest?.headers).not.toHaveProperty("traceparent");
  expect(sentFirst?.body).not.toContain(traced);

  const find = async (id: string) =>
    (await owner.api.get<{ request: ApiRequest }>(`/requests/${id}`)).data.request;
  const logged = { id: traced, client_request_id: "mine-1", trace_id: TRACE_ID };
  for (const id of [traced, "mine-1", TRACE_ID]) expect(await find(id)).toMatchObject(logged);
  expect(await find(plain)).toMatchObject({ client_request_id: null, trace_id: null });
});

it("a redelivery follows from the request behind its event, a test from its own", async () => {
  const owner = await account();
  const subscriber = await RecordingSubscriber.create(owner.api, { events: ["room.created"] });
  const created = await owner.api.post<{ room: Room }>("/rooms", { name: "A room" });
  const [delivery] = await subscriber.settled(1);
  const path = `/webhooks/${subscriber.webhook.id}`;
  await owner.api.post(`${path}/deliveries/${delivery?.id}/redeliver`, {});
  const tested = await owner.api.post(`${path}/test`, {});
  const shown = (await subscriber.settled(3)).map(({ request_id }) => request_id);
  const expected = [tested.requestId, created.requestId, created.requestId];
  expect(shown.toSorted()).toEqual(expected.toSorted());
});

it("what a run of a workflow changes follows from the request behind its event", async () => {
  const owner = await account();
  const subscriber = await RecordingSubscriber.create(owner.api, { events: ["file.uploaded"] });
  const code = 'export default async (event, { files }) => { await files.put("a.txt", "a"); };';
  const workflow = { name: "W", events: ["user.created"], code };
  const saved = await owner.api.post<{ workflow: { id: string } }>("/workflows", workflow);
  const { room } = (await owner.api.post<{ room: Room }>("/rooms", { name: "A room" })).data;
  const created = await owner.api.post("/users", { name: "Ada", roomId: room.id });
  const [delivery] = await subscriber.settled(1);
  expect(delivery?.request_id).toBe(created.requestId);
  const path = `/workflows/${saved.data.workflow.id}/executions`;
  const executions = async () =>
    (await owner.api.get<{ executions: { request_id?: string }[] }>(path)).data.executions;
  await expect.poll(executions).toMatchObject([{ request_id: created.requestId }]);
});
