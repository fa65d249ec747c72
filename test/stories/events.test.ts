/** The process is killed at any point of a delivery: events of committed requests are delivered and run, and no others. */
import { afterAll, beforeAll, beforeEach, expect, inject, it } from "vitest";
import type { Delivery } from "../../src/features/webhooks/delivery-schema.ts";
import type { WebhookWithSecret } from "../../src/features/webhooks/schema.ts";
import type { WorkflowExecution } from "../../src/features/workflows/execution-schema.ts";
import type { Workflow } from "../../src/features/workflows/schema.ts";
import { type Event, EventName } from "../../src/wire/events.ts";
import { eventually } from "../cli/processes.ts";
import { killUnderEvents, limitOf } from "../endurance/event-kills.ts";
import { KillableService } from "../endurance/killable-service.ts";
import { randomOf } from "../support/random.ts";
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

it(
  "what an unreliable receiver has missed is sent again from the log, which has every event in the order of its room",
  async () => {
    const { events, kills: killed, lost } = await killUnderEvents(service, eventCount, randomOf(seed));
    console.log(`${events} events, ${killed} kills: the receiver had lost ${lost}, and has all of them now`);
  },
  START_MS + limitOf(eventCount),
);
