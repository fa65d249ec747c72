/** The process is killed at any step of an event's way: what was committed is told and run, and what was not is not. */
import { afterAll, beforeAll, beforeEach, expect, inject, it } from "vitest";
import type { Event } from "../../src/delivery/events.ts";
import { EventName } from "../../src/delivery/port/event-name.ts";
import type { Delivery, WebhookWithSecret } from "../../src/webhooks/schema.ts";
import type { Workflow, WorkflowExecution } from "../../src/workflows/schema.ts";
import { KillableService } from "../endurance/killable-service.ts";
import { eventually } from "../node/processes.ts";
import { Customer } from "./client.ts";
import { RandomTraffic } from "./random-traffic.ts";
import { Receiver } from "./receiver.ts";

const { seed, kills } = inject("endurance");
const KILLS_PER_ROUND = 5;
const rounds = Math.ceil(kills / KILLS_PER_ROUND);
/** For the start, and for each round: scheduled tasks leave the rows of a running request alone for 15 s. */
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

/** A room of its own, with a webhook that is told of all that happens there, and a workflow that runs on it. */
async function prepareRoom(): Promise<void> {
  roomId = (await customer.createRoom()).id;
  const body = { url: receiver.url, events: EventName.options, roomId };
  const { data } = await customer.send<{ webhook: WebhookWithSecret }>("POST", "/webhooks", body);
  webhookId = data.webhook.id;
  const workflow = { name: "A", code: "export default ({ id }) => id;", events: EventName.options, roomId };
  const made = await customer.send<{ workflow: Workflow }>("POST", "/workflows", workflow);
  workflowId = made.data.workflow.id;
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

/** All runs of the workflow that are over. */
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

/** Each event has one run: one that succeeded, or one that is known to have been cut off. */
async function expectRunOnce(events: readonly Event[]): Promise<void> {
  await eventually("all is run", async () => (await executions()).length >= events.length, ROUND_MS);
  const runs = await executions();
  const succeeded = runs.flatMap(({ status, result }) =>
    status === "success" ? [String(JSON.parse(result))] : [],
  );
  const cutOff = runs.filter(({ result }) => result.startsWith("The run was interrupted"));
  expect(succeeded.length + cutOff.length).toBe(events.length);
  const ids = new Set(events.map(({ id }) => id));
  expect(succeeded.filter((id) => !ids.has(id))).toEqual([]);
  expect(new Set(succeeded).size).toBe(succeeded.length);
  console.log(`${succeeded.length} runs succeeded, ${cutOff.length} were cut off`);
}

it("an event that was sent and not answered for is sent again, under the same id", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  receiver.onArrival = () => {
    receiver.onArrival = () => undefined;
    return service.kill().then(resolve);
  };
  await customer.createUser(roomId, "Ada").catch(() => undefined);
  await promise;
  await service.start();
  await eventually("the event comes again", () => receiver.arrivals.length > 1, ROUND_MS);
  const [first, second] = receiver.arrivals;
  expect(second?.body).toBe(first?.body);
  expect(second?.headers["webhook-id"]).toBe(first?.event.id);
  await eventually("the delivery is over", async () => (await deliveries())[0]?.status === "success");
  expect(await deliveries()).toMatchObject([{ payload: first?.body, attempts: 1 }]);
});

it(
  "all that was committed is told in the order of the room, and run once at most, whenever the service is killed",
  async () => {
    console.log(`Killing the service ${rounds * KILLS_PER_ROUND} times amid events, with seed ${seed}`);
    for (let round = 0; round < rounds; round += 1) {
      if (round > 0) await prepareRoom();
      const traffic = new RandomTraffic(customer, roomId, seed + round);
      for (let kill = 0; kill < KILLS_PER_ROUND; kill += 1) {
        await traffic.until(() => service.kill());
        await service.start();
      }
      let gap: string | null = "not looked yet";
      const isWhole = async () => {
        await service.runScheduled();
        gap = await traffic.findGap(receiver.events.filter(({ data }) => data.roomId === roomId));
        return gap === null;
      };
      await eventually("all is told", isWhole, ROUND_MS).catch((cause: unknown) => {
        throw new Error(`What was told last: ${gap}`, { cause });
      });
      expect(traffic.acknowledged).toBeGreaterThan(0);
      await expectRunOnce(receiver.events.filter(({ data }) => data.roomId === roomId));
      console.log(
        `${traffic.acknowledged} requests were acknowledged, ${receiver.events.length} events told`,
      );
    }
  },
  START_MS + rounds * 2 * ROUND_MS,
);
