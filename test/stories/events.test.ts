/** The process is killed at any point of a delivery: events of committed requests are delivered and run, and no others. */
import { afterAll, beforeAll, beforeEach, expect, inject, it } from "vitest";
import type { Event } from "../../src/delivery/events.ts";
import { EventName } from "../../src/delivery/port/event-name.ts";
import { REPLAY_HEADER } from "../../src/webhooks/attempt.ts";
import type { Delivery } from "../../src/webhooks/delivery-schema.ts";
import type { Replay } from "../../src/webhooks/replay-schema.ts";
import type { WebhookWithSecret } from "../../src/webhooks/schema.ts";
import type { WorkflowExecution } from "../../src/workflows/execution-schema.ts";
import type { Workflow } from "../../src/workflows/schema.ts";
import { KillableService } from "../endurance/killable-service.ts";
import { eventually } from "../node/processes.ts";
import { Customer } from "./client.ts";
import { RandomTraffic } from "./random-traffic.ts";
import { Receiver } from "./receiver.ts";

const { seed, kills, events: eventCount } = inject("endurance");
const KILLS_PER_ROUND = 5;
const rounds = Math.ceil(kills / KILLS_PER_ROUND);
/** For the start and for each round; the cron trigger leaves outbox rows to their request for 15 s. */
const [START_MS, ROUND_MS] = [60_000, 90_000];

let service: KillableService;
let receiver: Receiver;
let customer: Customer;
let roomId: string;
let webhookId: string;
let workflowId: string;

beforeAll(async () => {
  service = await KillableService.prepare();
});
afterAll(() => service?.dispose());

/** Creates a room with a webhook and a workflow that subscribe to all of its events. */
async function prepareRoom(): Promise<void> {
  roomId = (await customer.createRoom()).id;
  const body = { url: receiver.url, events: EventName.options, roomId };
  const { data } = await customer.send<{ webhook: WebhookWithSecret }>("POST", "/webhooks", body);
  webhookId = data.webhook.id;
  const workflow = { name: "A", code: "export default ({ id }) => id;", events: EventName.options, roomId };
  const created = await customer.send<{ workflow: Workflow }>("POST", "/workflows", workflow);
  workflowId = created.data.workflow.id;
}

beforeEach(async () => {
  receiver = await Receiver.start();
  customer = new Customer(service, service.organization);
  await prepareRoom();
  return () => receiver.stop();
});

const deliveries = async () =>
  (await customer.send<{ deliveries: Delivery[] }>("GET", `/webhooks/${webhookId}/deliveries`)).data
    .deliveries;

/** What the log has of the room, or of all rooms, oldest first. */
async function readLog(path: string): Promise<Event[]> {
  const events: Event[] = [];
  type LogPage = { readonly events: Event[]; readonly cursor: string; readonly has_more: boolean };
  for (let after = ""; ; ) {
    const { data } = await customer.send<LogPage>("GET", `${path}?limit=100${after}`);
    events.push(...data.events);
    if (!data.has_more) return events;
    after = `&after=${data.cursor}`;
  }
}

/** All finished runs of the workflow. */
async function executions(): Promise<WorkflowExecution[]> {
  const all: WorkflowExecution[] = [];
  for (let total = 1; all.length < total; ) {
    const path = `/workflows/${workflowId}/executions?limit=100&offset=${all.length}`;
    const { data } = await customer.send<{ executions: WorkflowExecution[]; total: number }>("GET", path);
    all.push(...data.executions);
    total = data.total;
  }
  return all;
}

/**
 * Expects one run per event: one that succeeded, or one recorded as interrupted. A kill between the hand-overs to two
 * subscribers leaves the second one to the cron trigger.
 */
async function expectRunOnce(events: readonly Event[]): Promise<void> {
  await eventually(
    "every event has a run",
    async () => {
      await service.runScheduled();
      return (await executions()).length >= events.length;
    },
    ROUND_MS,
  );
  const runs = await executions();
  const succeeded = runs.flatMap(({ status, result }) =>
    status === "success" ? [String(JSON.parse(result))] : [],
  );
  const interrupted = runs.filter(({ result }) => result.startsWith("The run was interrupted"));
  expect(succeeded.length + interrupted.length).toBe(events.length);
  const ids = new Set(events.map(({ id }) => id));
  expect(succeeded.filter((id) => !ids.has(id))).toEqual([]);
  expect(new Set(succeeded).size).toBe(succeeded.length);
  console.log(`${succeeded.length} runs succeeded, ${interrupted.length} were interrupted`);
}

it("an event whose response was lost is sent again with the same ID", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  receiver.onArrival = () => {
    receiver.onArrival = () => undefined;
    return service.kill().then(resolve);
  };
  await customer.createUser(roomId, "Ada").catch(() => undefined);
  await promise;
  await service.start();
  await eventually("the event arrives again", () => receiver.arrivals.length > 1, ROUND_MS);
  const [first, second] = receiver.arrivals;
  expect(second?.body).toBe(first?.body);
  expect(second?.headers["webhook-id"]).toBe(first?.event.id);
  await eventually("the delivery is over", async () => (await deliveries())[0]?.status === "success");
  expect(await deliveries()).toMatchObject([{ payload: first?.body, attempts: 1 }]);
});

it(
  "committed events are delivered in the order of the room and run at most once, whenever the service is killed",
  async () => {
    console.log(`Killing the service ${rounds * KILLS_PER_ROUND} times amid events, with seed ${seed}`);
    for (let round = 0; round < rounds; round += 1) {
      if (round > 0) await prepareRoom();
      const traffic = new RandomTraffic(customer, roomId, seed + round);
      for (let kill = 0; kill < KILLS_PER_ROUND; kill += 1) {
        await traffic.until(() => service.kill());
        await service.start();
      }
      let gap: string | null = "not checked yet";
      const isWhole = async () => {
        await service.runScheduled();
        gap = await traffic.findGap(receiver.events.filter(({ data }) => data.roomId === roomId));
        gap ??= await traffic.findGap(await readLog(`/rooms/${roomId}/events`));
        return gap === null;
      };
      await eventually("all events are delivered", isWhole, ROUND_MS).catch((cause: unknown) => {
        throw new Error(`The events differ from the state: ${gap}`, { cause });
      });
      expect(traffic.acknowledged).toBeGreaterThan(0);
      const ofRoom = receiver.events.filter(({ data }) => data.roomId === roomId);
      const isSubscribed = ({ event }: Event) => event !== "room.created"; // it came before the webhook
      const logged = (await readLog(`/rooms/${roomId}/events`)).filter(isSubscribed);
      expect(logged.map(({ id }) => id).sort()).toEqual(ofRoom.map(({ id }) => id).sort());
      await expectRunOnce(ofRoom);
      console.log(
        `${traffic.acknowledged} requests were acknowledged, ${receiver.events.length} events delivered`,
      );
    }
  },
  START_MS + rounds * 2 * ROUND_MS,
);

const MANY_EVENTS = 1_000;
const ROOMS = eventCount < MANY_EVENTS ? 4 : 20;
const EVENTS_PER_ROOM = Math.ceil(eventCount / ROOMS);
/** A killed request leaves its event to the cron trigger for 15 s. */
const EVENT_KILLS = eventCount < MANY_EVENTS ? 0 : 5;
const EVENT_MS = 100;

/** Renames a user of the room again and again, one event for each number, however often the service is killed. */
async function renameThrough(room: string, onRenamed: () => Promise<void>): Promise<void> {
  const { id } = await customer.createUser(room, "0");
  for (let name = 1; name < EVENTS_PER_ROOM; ) {
    const renamed = customer.send("PATCH", `/users/${id}?roomId=${room}`, { name: `${name}` });
    // One that was killed may have taken effect: the same name again causes no further event.
    const { status } = await renamed.catch(() => ({ status: 0 }));
    if (status === 0) await eventually("the service runs", () => isServing());
    else {
      expect(status).toBe(200);
      name += 1;
      await onRenamed();
    }
  }
}

const isServing = async (): Promise<boolean> =>
  customer.send("GET", "/webhooks").then(
    ({ status }) => status < 500,
    () => false,
  );

/** The names that a room's events report, in their order. */
const namesIn = (events: readonly Event[], room: string): string[] =>
  events.flatMap((event) =>
    event.data.roomId === room && "user" in event && event.event.startsWith("user.") ? [event.user.name] : [],
  );

it(
  "what a failing receiver has missed is sent again from the log, which has every event in the order of its room",
  async () => {
    const rooms = await Promise.all(
      Array.from({ length: ROOMS }, async () => (await customer.createRoom()).id),
    );
    const created = await customer.send<{ webhook: WebhookWithSecret }>("POST", "/webhooks", {
      url: receiver.url,
      events: ["user.created", "user.updated"],
    });
    const { id } = created.data.webhook;
    let arrivals = 0;
    receiver.onArrival = () => {
      arrivals += 1;
      return arrivals % 3 === 0 ? 500 : 200;
    };
    const perKill = Math.ceil((ROOMS * EVENTS_PER_ROOM) / (EVENT_KILLS + 1));
    let renames = 0;
    const killNowAndThen = async () => {
      renames += 1;
      if (EVENT_KILLS === 0 || renames % perKill !== 0) return;
      await service.kill();
      await service.start();
    };
    await Promise.all(rooms.map((room) => renameThrough(room, killNowAndThen)));

    const expected = Array.from({ length: EVENTS_PER_ROOM }, (_, name) => `${name}`);
    let logged: Event[] = [];
    const isLogged = async () => {
      await service.runScheduled();
      const ofUsers = (await readLog("/events")).filter(({ event }) => event.startsWith("user."));
      logged = ofUsers.filter(({ data }) => rooms.includes(data.roomId));
      return logged.length >= ROOMS * EVENTS_PER_ROOM;
    };
    await eventually("every event is in the log", isLogged, ROUND_MS);
    for (const room of rooms) expect(namesIn(logged, room)).toEqual(expected);
    expect(new Set(logged.map((event) => event.id)).size).toBe(ROOMS * EVENTS_PER_ROOM);

    receiver.onArrival = () => 200;
    const span = { from: "2026-01-01" };
    const { data } = await customer.send<{ replay: Replay }>("POST", `/webhooks/${id}/replay`, span);
    if (EVENT_KILLS > 0) {
      await service.kill();
      await service.start();
    }
    const mark = REPLAY_HEADER.toLowerCase();
    const replayed = () => {
      const seen = new Set<string>();
      return receiver.arrivals.flatMap(({ headers, event }) =>
        headers[mark] === data.replay.id && seen.size < seen.add(event.id).size ? [event] : [],
      );
    };
    const isReplayed = () =>
      replayed().filter((event) => rooms.includes(event.data.roomId)).length >= logged.length;
    await eventually("the receiver has everything", isReplayed, ROUND_MS + eventCount * EVENT_MS);
    for (const room of rooms) expect(namesIn(replayed(), room)).toEqual(expected);
    const ids = new Set(receiver.events.map((event) => event.id));
    expect(logged.filter((event) => !ids.has(event.id))).toEqual([]);
  },
  START_MS + 3 * ROUND_MS + 2 * eventCount * EVENT_MS,
);
