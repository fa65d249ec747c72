/** A queue whose handler makes no attempt twice: what is known of an event when something fails on our side. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { DeliveryHandler, DeliveryOutcome } from "../../src/delivery/handler.ts";
import type { OutgoingEvent, SubscriberKey } from "../../src/delivery/port/subscriber-port.ts";
import { DeliveryQueue } from "../../src/delivery/subscriber/delivery-queue.ts";
import { expectLogged } from "../support/log-guard.ts";

const START = Date.UTC(2100, 0, 1);

const envelope: OutgoingEvent = {
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

it("whoever asked by hand is not kept waiting for another try", async () => {
  const postponed: DeliveryOutcome = {
    type: "postponed",
    until: START + 5_000,
    why: "It could not be started",
  };
  await withQueue(postponed, async (queue, key) => {
    const row = await queue.enqueueManual(key, envelope).attempted;
    expect(row).toMatchObject({ status: "failed", error: "It could not be started", attempts: 0 });
  });
});

it("an attempt whose outcome cannot be kept has failed of that, and is not made again", async () => {
  const attempt = {
    attempted_at: new Date(START).toISOString(),
    duration_ms: 1,
    result: 1n,
  };
  await withQueue({ type: "delivered", attempt }, async (queue, key) => {
    const row = await queue.enqueueManual(key, envelope).attempted;
    expect(row).toMatchObject({ status: "failed", error: "The outcome could not be recorded" });
    expectLogged("Do not know how to serialize a BigInt");
  });
});

it("what is not wanted any more leaves no record", async () => {
  await withQueue({ type: "unwanted" }, async (queue, key) => {
    expect(await queue.enqueueManual(key, envelope).attempted).toBeNull();
    expect(queue.history.list("any", 10, 0)).toEqual({ deliveries: [], total: 0 });
  });
});

it("what is asked for by hand has the next turn", async () => {
  const carried: string[] = [];
  const key: SubscriberKey = { kind: "workflow", accountId: crypto.randomUUID(), id: crypto.randomUUID() };
  await runInDurableObject(env.SUBSCRIBERS.getByName(`workflow:${key.id}`), async (_, state) => {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const handler: DeliveryHandler = {
      interruption: "It was cut off",
      deliver: async ({ body }) => {
        carried.push(body);
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
      ...envelope,
      eventId: crypto.randomUUID(),
      roomId: `room ${index}`,
      body: `${index}`,
    }));
    queue.enqueue(key, crowd, 1);
    const { attempted } = queue.enqueueManual(key, { ...envelope, body: "by hand" });
    open();
    await attempted;
    expect(carried.indexOf("by hand")).toBe(6);
  });
});
