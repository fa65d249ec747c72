/** Metrics of live rooms and deliveries in their isolate. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { OutgoingEvent, SubscriberKey } from "../../src/delivery/outbox/subscription.ts";
import { openDelivery } from "../../src/delivery/subscribers.ts";
import { DATA_SETS } from "../../src/platform/telemetry/data-sets.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { RecordingSubscriber } from "../delivery/recording-subscriber.ts";
import { makeRoom } from "../room/support/rooms.ts";
import { account } from "../support/api.ts";
import { whileTableFails } from "../support/database-failure.ts";
import { countLogged, expectLogged } from "../support/log-guard.ts";
import { takeMetrics as take } from "../support/taken-metrics.ts";

/** An isolate counts for all of its objects: those of earlier tests wake by the real clock, and may add to a value. */
const atLeast = (least: number) => expect.toSatisfy((value: number) => value >= least);

it("a room counts its connections, joins, frames and alarms", async () => {
  const room = await makeRoom();
  const ada = await room.user();
  take(DATA_SETS.rooms);
  const socket = await room.join(ada);
  await socket.call("STORE_SET", { store: "s", key: "k", value: 1 });
  const [joined] = take(DATA_SETS.rooms);
  expect(joined?.values).toMatchObject({
    connections_opened: 1,
    joins: 1,
    joins_refused: 0,
    frames_received: 2,
    frames_sent: atLeast(2),
    bytes_sent: atLeast(100),
  });
  await room.advance(1);
  take(DATA_SETS.rooms);
  await room.advance(30_000);
  const [later] = take(DATA_SETS.rooms);
  expect(later?.values).toMatchObject({
    ...{ alarms: atLeast(1), occupied_seconds: atLeast(30), connection_seconds: atLeast(30) },
    storage_byte_seconds: atLeast(1),
  });
  socket.close();
  await room.inside(() => undefined);
  expect(take(DATA_SETS.rooms)[0]?.values).toMatchObject({ connections_closed: atLeast(1) });
});

it("an attempt is counted by its outcome, and the first one with the time that its event has waited", async () => {
  const owner = await account();
  const subscriber = await RecordingSubscriber.create(owner.api, {
    behaviour: "status/503",
    events: ["room.created"],
  });
  take(DATA_SETS.deliveries);
  await owner.api.post("/rooms", { name: "A room" });
  await expect.poll(async () => (await subscriber.deliveries())[0]?.attempts).toBe(1);
  expect(take(DATA_SETS.deliveries)).toContainEqual({
    labels: ["failed", "status"],
    values: expect.objectContaining({
      ...{ events: atLeast(1), duration_count: atLeast(1), wait_count: atLeast(1) },
    }),
  });
});

it("a run is counted by its outcome, with its duration and the time that its event has waited", async () => {
  const { api } = await account();
  const workflow = { name: "W", events: ["user.created"], code: "export default () => 1;" };
  const saved = await api.post<{ workflow: { id: string } }>("/workflows", workflow);
  const room = await api.createRoom();
  take(DATA_SETS.runs);
  await api.createUser(room.id);
  const path = `/workflows/${saved.data.workflow.id}/executions`;
  const executions = async () => (await api.get<{ executions: object[] }>(path)).data.executions;
  await expect.poll(executions).toMatchObject([{ status: "success" }]);
  expect(take(DATA_SETS.runs)).toContainEqual({
    labels: ["success"],
    values: expect.objectContaining({ killed: 0, duration_count: atLeast(1), wait_count: atLeast(1) }),
  });
});

const EVENT: OutgoingEvent = {
  ...{ eventId: "event", event: "room.created", roomId: "room", body: "{}" },
  occurredAt: Date.UTC(2100, 0, 1),
};

/** How many errors of a part were counted since the last call. Objects of earlier tests, too, may have some. */
const errorsOf = (source: string): number =>
  take(DATA_SETS.errors)
    .filter(({ labels }) => labels.join() === `${source},Server,INTERNAL_ERROR`)
    .reduce((sum, { values }) => sum + (values.errors ?? 0), 0);

it("an error of a room is counted as one", async () => {
  const room = await makeRoom();
  await room.join(await room.user());
  take(DATA_SETS.errors);
  await whileTableFails("rooms", () => room.advance(30_000));
  expectLogged("A task of a room's alarm failed: no such table: rooms");
  expect(errorsOf("room")).toBeGreaterThanOrEqual(1);
});

it("an error of a delivery is counted as one", async () => {
  const owner = await account();
  const { webhook } = await RecordingSubscriber.create(owner.api, { events: ["room.created"] });
  const key: SubscriberKey = { kind: "webhook", accountId: owner.id, id: webhook.id };
  take(DATA_SETS.errors);
  await whileTableFails("webhooks", async () => {
    await openDelivery(env).subscribers(key).enqueue(key, [EVENT], 1);
    await expect.poll(() => countLogged("no such table: webhooks")).toBeGreaterThanOrEqual(1);
  });
  expectLogged("The database failed during a delivery: no such table: webhooks");
  expect(errorsOf("delivery")).toBeGreaterThanOrEqual(1);
});

it("an error of a scheduled task is counted as one", async () => {
  const { id } = await account();
  const entry = crypto.randomUUID();
  await env.DB.prepare("INSERT INTO outbox VALUES (?, ?, ?, 'no command', 0)").bind(entry, id, entry).run();
  take(DATA_SETS.errors);
  await runScheduledTasks(env, Date.now());
  expect(errorsOf("schedule")).toBe(1);
  expectLogged("A pending command could not be relayed to its room yet");
  await env.DB.prepare("DELETE FROM outbox WHERE id = ?").bind(entry).run();
  await runScheduledTasks(env, Date.now());
  expect(errorsOf("schedule")).toBe(0);
});
