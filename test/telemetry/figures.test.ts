/** What live rooms and deliveries add to the metrics of their isolate. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { DELIVERIES, ERRORS, ROOMS, RUNS } from "../../src/telemetry/data-sets.ts";
import { RecordingSubscriber } from "../delivery/recording-subscriber.ts";
import { makeRoom } from "../realtime/support/rooms.ts";
import { account } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import { takeFigures as take } from "../support/taken-figures.ts";

it("a room counts its connections, joins, frames and alarms", async () => {
  const room = await makeRoom();
  const ada = await room.user();
  take(ROOMS);
  const socket = await room.join(ada);
  await socket.call("STORE_SET", { store: "s", key: "k", value: 1 });
  const [joined] = take(ROOMS);
  expect(joined?.figures).toMatchObject({
    connections_opened: 1,
    joins: 1,
    joins_refused: 0,
    frames_received: 2,
  });
  expect(joined?.figures.frames_sent).toBeGreaterThanOrEqual(2);
  expect(joined?.figures.bytes_sent).toBeGreaterThan(100);
  await room.advance(1);
  take(ROOMS);
  await room.advance(30_000);
  const [later] = take(ROOMS);
  expect(later?.figures).toMatchObject({ alarms: 1, occupied_seconds: 30, connection_seconds: 30 });
  expect(later?.figures.storage_byte_seconds).toBeGreaterThan(0);
  socket.close();
  await room.inside(() => undefined);
  expect(take(ROOMS)[0]?.figures).toMatchObject({ connections_closed: 1 });
});

it("an attempt is counted by its outcome, and the first one with the time that its event has waited", async () => {
  const owner = await account();
  const subscriber = await RecordingSubscriber.create(owner.api, {
    behaviour: "status/503",
    events: ["room.created"],
  });
  take(DELIVERIES);
  await owner.api.post("/rooms", { name: "A room" });
  await expect.poll(async () => (await subscriber.deliveries())[0]?.attempts).toBe(1);
  expect(take(DELIVERIES)).toMatchObject([
    { labels: ["failed", "status"], figures: { events: 1, duration_count: 1, wait_count: 1 } },
  ]);
});

it("a run is counted by its outcome, with its duration and the time that its event has waited", async () => {
  const { api } = await account();
  const workflow = { name: "W", events: ["user.created"], code: "export default () => 1;" };
  const saved = await api.post<{ workflow: { id: string } }>("/workflows", workflow);
  const room = await api.createRoom();
  take(RUNS);
  await api.createUser(room.id);
  const path = `/workflows/${saved.data.workflow.id}/executions`;
  const executions = async () => (await api.get<{ executions: object[] }>(path)).data.executions;
  await expect.poll(executions).toMatchObject([{ status: "success" }]);
  expect(take(RUNS)).toMatchObject([
    { labels: ["success"], figures: { killed: 0, duration_count: 1, wait_count: 1 } },
  ]);
});

it("an error of the service's own is counted by the part in which it occurred", async () => {
  const { id } = await account();
  const entry = crypto.randomUUID();
  await env.DB.prepare("INSERT INTO outbox VALUES (?, ?, ?, 'no command', 0)").bind(entry, id, entry).run();
  take(ERRORS);
  await runScheduledTasks(env, Date.now());
  expect(take(ERRORS)).toEqual([
    { labels: ["schedule", "Server", "INTERNAL_ERROR"], figures: { errors: 1 } },
  ]);
  expectLogged("A pending command could not be relayed to its room yet");
  await env.DB.prepare("DELETE FROM outbox WHERE id = ?").bind(entry).run();
  await runScheduledTasks(env, Date.now());
  expect(take(ERRORS)).toEqual([]);
});
