/** The objects that lend a webhook their connections: they make its requests, and store nothing. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, inject, it } from "vitest";
import type { DeliveryOutcome, HandledEvent } from "../../src/delivery/subscriber/handler.ts";
import { WebhookHandler } from "../../src/features/webhooks/webhook-handler.ts";
import { RecordingSubscriber } from "../delivery/recording-subscriber.ts";
import { type Account, account } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";

const EVENTS = 8;
const { port } = inject("receiver");

let owner: Account;
let gate: string;
let subscriber: RecordingSubscriber;

beforeEach(async () => {
  owner = await account();
  gate = crypto.randomUUID();
  subscriber = await RecordingSubscriber.create(owner.api, { behaviour: `gate/${gate}` });
});

const outgoingEvent = (number: number): HandledEvent => ({
  eventId: crypto.randomUUID(),
  event: "user.created",
  roomId: `room ${number}`,
  body: JSON.stringify({ number }),
  occurredAt: 0,
  replayId: null,
  isOnce: false,
});

/** Attempts all events at once. The objects that are asked for others are named in `reached`, or cannot be reached. */
function attemptAll(reached: string[], isReachable: boolean): Promise<DeliveryOutcome[]> {
  const { SUBSCRIBERS } = env;
  const recording = new Proxy(SUBSCRIBERS, {
    get: (_, property) => {
      if (property !== "getByName") throw new Error(`Not used by the service: ${String(property)}`);
      return (name: string) => {
        reached.push(name);
        if (!isReachable) throw new Error("fault: the object cannot be reached");
        return SUBSCRIBERS.getByName(name);
      };
    },
  });
  const key = { kind: "webhook", accountId: owner.id, id: subscriber.webhook.id } as const;
  const state = { read: () => "{}", write: () => undefined };
  const handler = new WebhookHandler({ ...env, SUBSCRIBERS: recording }, key, Date.now, state);
  return Promise.all(
    Array.from({ length: EVENTS }, (_, number) => handler.deliver(outgoingEvent(number), 0)),
  );
}

const numbers = async (): Promise<number[]> =>
  (await subscriber.received())
    .map(({ body }) => (JSON.parse(body) as { number: number }).number)
    .toSorted((one, other) => one - other);
const ALL = Array.from({ length: EVENTS }, (_, number) => number);

it("make the requests for which a webhook's own object has no connection", async () => {
  const reached: string[] = [];
  const attempting = attemptAll(reached, true);
  await expect.poll(numbers).toEqual(ALL);
  await fetch(`http://127.0.0.1:${port}/open/${gate}/now`);
  for (const outcome of await attempting) {
    expect(outcome).toMatchObject({ type: "delivered", attempt: { status_code: 200, answer: "open" } });
  }
  const name = `webhook:${subscriber.webhook.id}:sender:1`;
  expect(reached).toEqual([name, name, name]);
  await runInDurableObject(env.SUBSCRIBERS.getByName(name), async (_, { storage }) => {
    expect(
      storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray(),
    ).toEqual([]);
    expect(await storage.getAlarm()).toBeNull();
  });
});

it("are replaced by the webhook's own object when they fail", async () => {
  const reached: string[] = [];
  const attempting = attemptAll(reached, false);
  await expect.poll(numbers).toEqual(ALL);
  await fetch(`http://127.0.0.1:${port}/open/${gate}/now`);
  expect((await attempting).map(({ type }) => type)).toEqual(Array(EVENTS).fill("delivered"));
  expect(reached).toHaveLength(3);
  expectLogged("A sender of a webhook failed, so its own object sends the request");
});
