/** A delivery queue whose handler must not repeat attempts: the outcome when the service itself fails. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { DeliveryHandler, DeliveryOutcome } from "../../src/delivery/handler.ts";
import type { OutgoingEvent, SubscriberKey } from "../../src/delivery/port/subscriber-port.ts";
import { DeliveryQueue } from "../../src/delivery/subscriber/delivery-queue.ts";
import { expectLogged } from "../support/log-guard.ts";

const START = Date.UTC(2100, 0, 1);

const outgoingEvent: OutgoingEvent = {
  eventId: crypto.randomUUID(),
  event: "user.created",
  roomId: "room",
  body: "{}",
  occurredAt: START,
};

/** Runs `work` with a queue whose handler comes back with this. */
function withQueue<T>(
  outcome: DeliveryOutcome,
  work: (queue: DeliveryQueue, key: SubscriberKey) => Promise<T>,
): Promise<T> {
  const key: SubscriberKey = { kind: "workflow", accountId: crypto.randomUUID(), id: crypto.randomUUID() };
  const handler: DeliveryHandler = {
    interruption: "It was cut off",
    deliver: async () => outcome,
    requireVersion: () => {},
  };
  return runInDurableObject(env.SUBSCRIBERS.getByName(`workflow:${key.id}`), (_, state) =>
    work(
      new DeliveryQueue(
        state,
        () => handler,
        () => START,
      ),
      key,
    ),
  );
}

it("a manual delivery that cannot be attempted fails instead of waiting", async () => {
  const postponed: DeliveryOutcome = {
    type: "postponed",
    until: START + 5_000,
    why: "It could not be started",
  };
  await withQueue(postponed, async (queue, key) => {
    const row = await queue.enqueueManual(key, outgoingEvent).attempted;
    expect(row).toMatchObject({ status: "failed", error: "It could not be started", attempts: 0 });
  });
});

it("an attempt whose outcome cannot be stored fails and is not repeated", async () => {
  const attempt = {
    attempted_at: new Date(START).toISOString(),
    duration_ms: 1,
    result: 1n,
  };
  await withQueue({ type: "delivered", attempt }, async (queue, key) => {
    const row = await queue.enqueueManual(key, outgoingEvent).attempted;
    expect(row).toMatchObject({ status: "failed", error: "The outcome could not be recorded" });
    expectLogged("Do not know how to serialize a BigInt");
  });
});

it("an unwanted event leaves no record", async () => {
  await withQueue({ type: "unwanted" }, async (queue, key) => {
    expect(await queue.enqueueManual(key, outgoingEvent).attempted).toBeNull();
    expect(queue.history.list("any", 10, 0)).toEqual({ deliveries: [], total: 0 });
  });
});

it("a manual delivery takes the next turn", async () => {
  const delivered: string[] = [];
  const key: SubscriberKey = { kind: "workflow", accountId: crypto.randomUUID(), id: crypto.randomUUID() };
  await runInDurableObject(env.SUBSCRIBERS.getByName(`workflow:${key.id}`), async (_, state) => {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const handler: DeliveryHandler = {
      interruption: "It was cut off",
      deliver: async ({ body }) => {
        delivered.push(body);
        await opened;
        return { type: "unwanted" };
      },
      requireVersion: () => {},
    };
    const queue = new DeliveryQueue(
      state,
      () => handler,
      () => START,
    );
    const crowd = Array.from({ length: 20 }, (_, index) => ({
      ...outgoingEvent,
      eventId: crypto.randomUUID(),
      roomId: `room ${index}`,
      body: `${index}`,
    }));
    queue.enqueue(key, crowd, 1);
    const { attempted } = queue.enqueueManual(key, { ...outgoingEvent, body: "by hand" });
    open();
    await attempted;
    expect(delivered.indexOf("by hand")).toBe(6);
  });
});
