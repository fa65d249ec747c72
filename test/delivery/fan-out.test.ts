/** Recipients of fan-out, and its report of subscribers that could not take an event. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { depthOf, presentEvent } from "@atrium/contract/resources/present-event.ts";
import { presentRoom, type Room } from "@atrium/contract/resources/room.ts";
import type { ApiRequest } from "@atrium/contract/rest/request-log.ts";
import { expect, it, vi } from "vitest";
import type { EventLogObject } from "../../src/delivery/event-log/event-log-object.ts";
import { shardOf } from "../../src/delivery/event-log/shards.ts";
import type { SubscriberObjectBase } from "../../src/delivery/subscriber/subscriber-object.ts";
import { type DeliveryObjects, fanOut, hasListener, openDelivery } from "../../src/delivery/subscribers.ts";
import { WorkBudget } from "../../src/platform/flow/work-budget.ts";
import type { Stub } from "../../src/platform/objects/rpc.ts";
import { ROOM } from "../room/support/rows.ts";
import { account } from "../support/api.ts";
import { answerOf } from "../support/person.ts";
import { RecordingSubscriber } from "./recording-subscriber.ts";

/** The objects of the service, except that subscribers take their events by `enqueue`. */
function enqueuingBy(enqueue: Stub<SubscriberObjectBase>["enqueue"]): DeliveryObjects {
  const { subscribers, ...others } = openDelivery(env);
  return { ...others, subscribers: (key) => ({ ...subscribers(key), enqueue }) };
}

const ALL_REACHED = { left: new Map(), failures: [] };

const unreachable = enqueuingBy(() => Promise.reject(new Error("The subscriber's object cannot be reached")));

it("an event is still owed to each of several subscribers that fail at once", async () => {
  const pending = ["webhook", "workflow"].map((kind) => ({ kind, id: crypto.randomUUID(), version: 1 }));
  const event = {
    id: crypto.randomUUID(),
    event: "user.created",
    occurredAt: Date.now(),
    body: "{}",
    pendingSubscriptions: JSON.stringify(pending),
  } as const;
  const { left, failures } = await fanOut(crypto.randomUUID(), unreachable, crypto.randomUUID(), [event]);
  expect(JSON.parse(left.get(event.id) ?? "[]")).toEqual(pending);
  expect(failures.map(String)).toEqual(Array(2).fill("Error: The subscriber's object cannot be reached"));
});

it("an event for 2,000 subscribers reaches a few of them at a time, and the others by the calls of later invocations", async () => {
  const ids = Array.from({ length: 2_000 }, (_, index) => String(index));
  const reached: string[] = [];
  const [calling, atOnce] = [new Set<string>(), new Set<number>()];
  const counting = enqueuingBy(async ({ id }) => {
    atOnce.add(calling.add(id).size);
    await Promise.resolve();
    calling.delete(id);
    reached.push(id);
  });
  const event = { id: "event", event: "user.created", occurredAt: Date.now(), body: "{}" } as const;
  let pendingSubscriptions: string | undefined = JSON.stringify(
    ids.map((id) => ({ kind: "webhook", id, version: 1 })),
  );
  const left: number[] = [];
  while (pendingSubscriptions !== undefined) {
    const pending = [{ ...event, pendingSubscriptions }];
    const unreached = await fanOut("account", counting, "room", pending, new WorkBudget(801));
    expect(unreached.failures).toEqual([]);
    pendingSubscriptions = unreached.left.get(event.id);
    left.push(JSON.parse(pendingSubscriptions ?? "[]").length);
  }
  expect(left).toEqual([1_200, 400, 0]);
  expect(reached.toSorted()).toEqual(ids.toSorted());
  expect(Math.max(...atOnce)).toBeLessThanOrEqual(20);
});

it("a mention that no inbox could take is kept, and its body is read once for all webhooks", async () => {
  const [owner, roomId] = [await account(), crypto.randomUUID()];
  const { data } = await owner.api.post<{ identity: { id: string } }>("/identities", {
    ...{ name: "Bot", kind: "agent" },
  });
  const identityId = data.identity.id;
  const webhook = { url: "https://example.com/hook", events: ["agent.mentioned"], identityId };
  for (let count = 0; count < 3; count += 1) await owner.api.post("/webhooks", webhook);
  const taken: string[] = [];
  const objects = (mention: DeliveryObjects["mention"]): DeliveryObjects => ({
    ...enqueuingBy(async ({ id }) => void taken.push(id)),
    mention,
  });
  const sent: unknown[] = [];
  const failing = objects(() => Promise.reject(new Error("The inbox cannot be reached")));
  const working = objects(async (_, identityIds) => void sent.push(...identityIds));
  const body = JSON.stringify({ data: { identityId } });
  const event = { id: crypto.randomUUID(), event: "agent.mentioned", body } as const;
  const pending = { ...event, occurredAt: Date.now(), pendingSubscriptions: null };
  const parse = vi.spyOn(JSON, "parse");
  const { left, failures } = await fanOut(owner.id, failing, roomId, [pending]);
  const parsed = parse.mock.calls.filter(([text]) => text === body).length;
  parse.mockRestore();
  expect([parsed, taken.length]).toEqual([2, 3]); // for the webhooks, and for the inbox
  expect(failures.map(String)).toEqual(["Error: The inbox cannot be reached"]);
  const again = { ...pending, pendingSubscriptions: left.get(event.id) ?? "[]" };
  expect(await fanOut(owner.id, working, roomId, [again])).toEqual(ALL_REACHED);
  expect([sent, taken.length]).toEqual([[identityId], 3]);
});

it("who subscribes is known from the log, which learns of each change of a subscriber before it is answered", async () => {
  const [owner, roomId] = [await account(), crypto.randomUUID()];
  const reached: string[] = [];
  const recording = enqueuingBy(async ({ id }) => void reached.push(id));
  const reachedByNext = async () => {
    reached.length = 0;
    const event = { id: crypto.randomUUID(), event: "session.started", occurredAt: Date.now() } as const;
    const fresh = { ...event, body: "{}", pendingSubscriptions: null };
    expect(await fanOut(owner.id, recording, roomId, [fresh])).toEqual(ALL_REACHED);
    return [...reached];
  };
  expect(await reachedByNext()).toEqual([]);
  const body = { url: "https://example.com/hook", events: ["session.started"] };
  const { data } = await owner.api.post<{ webhook: { id: string } }>("/webhooks", body);
  const path = `/webhooks/${data.webhook.id}`;
  expect(await reachedByNext()).toEqual([data.webhook.id]);
  await owner.api.patch(path, { events: ["session.closed"] });
  expect(await reachedByNext()).toEqual([]);
  await owner.api.patch(path, { events: ["session.started"] });
  expect(await reachedByNext()).toEqual([data.webhook.id]);
  await owner.api.delete(path);
  expect(await reachedByNext()).toEqual([]);
});

it("a change of a subscriber whose announcement was lost is known after a minute", async () => {
  const [owner, roomId] = [await account(), crypto.randomUUID()];
  const { eventLogs } = openDelivery(env);
  const isListened = () => hasListener(eventLogs, owner.id, roomId, "user.created");
  expect(await isListened()).toBe(false);
  await insertSubscriber(owner.id);
  expect(await isListened()).toBe(false);
  const shard = env.EVENT_LOGS.getByName(`${owner.id}:${shardOf(roomId)}`);
  await runInDurableObject(shard, (object: EventLogObject) => {
    object.clock = () => Date.now() + 60_000;
  });
  expect(await isListened()).toBe(true);
});

/** A webhook that no one has announced. */
const insertSubscriber = (accountId: string) =>
  env.DB.prepare(
    `INSERT INTO webhooks (account_id, id, url, url_folded, own_host, events, enabled, secret, created_at, updated_at)
     VALUES (?, ?, 'https://example.com', '', '', '["user.created"]', 1, 'whsec_', 0, 1)`,
  )
    .bind(accountId, crypto.randomUUID())
    .run();

// The way of a trace: from a request to its receivers, deliveries and runs.

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`;

it("a receiver is sent the ID of the request and the client's trace context, which the signature leaves out", async () => {
  const owner = await account();
  const subscriber = await RecordingSubscriber.create(owner.api, { events: ["room.created"] });
  const create = async (headers: Record<string, string>) => {
    const body = JSON.stringify({ name: "A room" });
    const init = { headers: { "Content-Type": "application/json", ...headers }, body };
    return (await answerOf({ REQUEST_LOG: "on" }, owner.api.request("POST", "/rooms", init))).requestId;
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

it("a test of a webhook shows the room and the user as they are right after such an event", async () => {
  const owner = await account();
  const subscriber = await RecordingSubscriber.create(owner.api, { events: ["participant.joined"] });
  await owner.api.post(`/webhooks/${subscriber.webhook.id}/test`, {});
  await subscriber.settled(1);
  expect(await subscriber.events()).toMatchObject([
    { event: "participant.joined", room: { active_participants: 1 }, user: { status: "online" } },
  ]);
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

// How deep in a chain of workflows an event is, by its JSON.

const room = presentRoom(ROOM, 0, { activeParticipants: 0, occupiedMs: 0, occupiedSince: null });
const draft = { event: "room.updated", data: { roomId: room.id }, room } as const;

it("is the event's own field, and no field of what users wrote", () => {
  const workflowId = crypto.randomUUID();
  expect(depthOf(presentEvent("id", 0, draft, { workflowId, depth: 3 }))).toBe(3);
  expect(depthOf(presentEvent("id", 0, draft))).toBe(0);
  expect(depthOf('{"comment":{"anchor":{"depth":9}}}')).toBe(0);
  expect(depthOf('{"depth":"9"}')).toBe(0);
});
