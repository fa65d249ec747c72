/** The objects that lend a webhook their connections: they make its requests, and store nothing. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, inject, it } from "vitest";
import type { AttemptResult, DeliveryOutcome } from "../../src/delivery/subscriber/handler.ts";
import {
  CLOSED,
  capacityAfter,
  MAX_IN_FLIGHT,
  paceOf,
  SenderSlots,
  UNTRIED,
} from "../../src/features/webhooks/receiver-health.ts";
import { WebhookHandler } from "../../src/features/webhooks/webhook-handler.ts";
import { RecordingSubscriber } from "../delivery/recording-subscriber.ts";
import { handledEvent, memoryState } from "../delivery/test-queue.ts";
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
  const handler = new WebhookHandler({ ...env, SUBSCRIBERS: recording }, key, Date.now, memoryState());
  return Promise.all(Array.from({ length: EVENTS }, (_, number) => handler.deliver(handledEvent(number), 0)));
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

// How many attempts a webhook's receiver may have in flight, and which object makes each of them.

const DELIVERED: AttemptResult = {
  outcome: "delivered",
  statusCode: 200,
  errorClass: null,
  error: null,
  answer: "ok",
  durationMs: 20,
  requestHeaders: null,
  responseHeaders: null,
  retryAfterMs: null,
};
const TIMED_OUT: AttemptResult = { ...DELIVERED, outcome: "failed", statusCode: null, errorClass: "timeout" };
const answered = (statusCode: number): AttemptResult => ({
  ...DELIVERED,
  ...{ outcome: "failed", statusCode, errorClass: "status" },
});

const afterAttempts = (results: readonly AttemptResult[], before = UNTRIED) =>
  results.reduce(capacityAfter, before);
const FULL = afterAttempts(Array<AttemptResult>(MAX_IN_FLIGHT).fill(DELIVERED));

describe("the attempts in flight", () => {
  it("are one for a receiver that has not proven itself, and few for one that has not shown how quick it is", () => {
    expect(paceOf(CLOSED, false, FULL)).toEqual({ maxInFlight: 1, pausedUntil: 0 });
    expect(paceOf(CLOSED, true, UNTRIED)).toEqual({ maxInFlight: 5, pausedUntil: 0 });
  });

  it("become one more with each success, up to a bound", () => {
    expect(afterAttempts([DELIVERED, DELIVERED]).inFlight).toBe(5 + 2);
    expect(FULL.inFlight).toBe(MAX_IN_FLIGHT);
    expect(afterAttempts([DELIVERED], FULL).inFlight).toBe(MAX_IN_FLIGHT);
  });

  it.each([
    ["no answer", TIMED_OUT],
    ["429", answered(429)],
    ["503", answered(503)],
  ])("are halved by %s", (_, result) => {
    expect(afterAttempts([result], FULL).inFlight).toBe(Math.floor(MAX_IN_FLIGHT / 2));
    expect(afterAttempts(Array<AttemptResult>(9).fill(result), FULL).inFlight).toBe(5);
  });

  it("stay as many when the receiver refuses an event", () => {
    expect(afterAttempts([answered(400), answered(404)], FULL).inFlight).toBe(MAX_IN_FLIGHT);
  });

  it("are few while the receiver needs more than a second on average", () => {
    expect(afterAttempts([{ ...DELIVERED, durationMs: 10_000 }], FULL).inFlight).toBe(5);
    expect(afterAttempts([{ ...DELIVERED, durationMs: 1_500 }], FULL).inFlight).toBe(MAX_IN_FLIGHT);
  });
});

describe("connections", () => {
  it("are the webhook's own first, one less than its object may have, then six of each sender", () => {
    const connections = new SenderSlots();
    const senders = Array.from({ length: 18 }, () => connections.take());
    expect(senders).toEqual([...Array(5).fill(0), ...Array(6).fill(1), ...Array(6).fill(2), 3]);
  });

  it("that are given back are used again, those of the first objects before others", () => {
    const connections = new SenderSlots();
    for (let count = 0; count < 12; count += 1) connections.take();
    for (const sender of [2, 0, 1]) connections.giveBack(sender);
    expect([connections.take(), connections.take(), connections.take()]).toEqual([0, 1, 2]);
  });
});
