/** A subscriber whose handler must not repeat attempts: the outcome when the service itself fails. */
import { expect, it } from "vitest";
import type { SubscriberKey } from "../../src/delivery/outbox/subscription.ts";
import type { DeliveryHandler, DeliveryOutcome } from "../../src/delivery/subscriber/handler.ts";
import type { SubscriberObjectBase } from "../../src/delivery/subscriber/subscriber-object.ts";
import { expectLogged } from "../support/log-guard.ts";
import { ATTEMPT, StubbedSubscriber } from "./stubbed-subscriber.ts";
import { outgoingEvent, START } from "./test-queue.ts";

const EVENT = outgoingEvent(0);

const LIMITS = { maxBytes: 1024 ** 3, maxAgeMs: 1024 ** 3 };

/** Runs `work` with a workflow's object whose attempts are never repeated. */
const withQueue = <T>(
  handler: Partial<DeliveryHandler>,
  work: (object: SubscriberObjectBase, key: SubscriberKey) => Promise<T>,
): Promise<T> =>
  StubbedSubscriber.run(({ object, key }) => work(object, key), {
    key: { kind: "workflow", accountId: crypto.randomUUID(), id: crypto.randomUUID() },
    ports: { limits: LIMITS },
    handler: { interruption: "It was cut off", pace: { maxInFlight: 6, pausedUntil: 0 }, ...handler },
  });

const outcomeOf = (outcome: DeliveryOutcome) => ({ deliver: async () => outcome });

it("a manual delivery that cannot be attempted fails instead of waiting", async () => {
  const postponed: DeliveryOutcome = {
    type: "postponed",
    until: START + 5_000,
    why: "It could not be started",
  };
  await withQueue(outcomeOf(postponed), async (object, key) => {
    const row = await object.deliverNow(key, EVENT);
    expect(row).toMatchObject({ status: "failed", error: "It could not be started", attempts: 0 });
  });
});

it("an attempt whose outcome cannot be stored fails and is not repeated", async () => {
  const attempt = {
    attempted_at: new Date(START).toISOString(),
    duration_ms: 1,
    result: 1n,
  };
  await withQueue(outcomeOf({ type: "delivered", attempt }), async (object, key) => {
    const row = await object.deliverNow(key, EVENT);
    expect(row).toMatchObject({ status: "failed", error: "The outcome could not be recorded" });
    expectLogged("Do not know how to serialize a BigInt");
  });
});

it("an event for a disabled subscriber that shows none of them leaves no record", async () => {
  await withQueue(outcomeOf({ type: "disabled", error: null }), async (object, key) => {
    expect(await object.deliverNow(key, EVENT)).toBeNull();
    expect(object.list("any", { limit: 10, offset: 0 })).toEqual({ deliveries: [], total: 0 });
  });
});

it("a manual delivery takes the next turn", async () => {
  const delivered: string[] = [];
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const deliver: DeliveryHandler["deliver"] = async ({ body }) => {
    delivered.push(body);
    await opened;
    return { type: "failed", attempt: null, error: "It fails" };
  };
  await withQueue({ deliver }, async (object, key) => {
    const crowd = Array.from({ length: 20 }, (_, index) => outgoingEvent(index, { roomId: `room ${index}` }));
    void object.enqueue(key, crowd, 1);
    const attempted = object.deliverNow(key, outgoingEvent(0, { body: "by hand" }));
    open();
    await attempted;
    expect(delivered.indexOf("by hand")).toBe(6);
  });
});

it("a subscriber that is removed frees what its handler keeps", async () => {
  let freed = 0;
  const release = () => {
    freed += 1;
  };
  const failing = outcomeOf({ type: "failed", attempt: null, error: "It fails" });
  await withQueue({ ...failing, release }, async (object, key) => {
    await object.deliverNow(key, EVENT);
    expect(freed).toBe(0);
    await object.remove();
  });
  expect(freed).toBe(1);
});

const UNREPEATED = { interruption: "It was cut off" };

it("an attempt that a crash cut off fails, and the subscriber with it, until one succeeds", () =>
  StubbedSubscriber.run(
    async (subject) => {
      const failing = () => subject.object.stats("1h").failing;
      subject.outcome = () => new Promise(() => {});
      subject.enqueue([EVENT]);
      await expect.poll(() => subject.attempted).toEqual([0]);
      expect([failing(), subject.total("pending")]).toEqual([null, 1]);
      subject.open();
      expect(failing()).toMatchObject({ since: expect.any(Number), error: "It was cut off", nextAt: null });
      expect(subject.total("failed")).toBe(1);
      subject.outcome = () => ({ type: "delivered", attempt: ATTEMPT });
      subject.enqueue([outgoingEvent(1)]);
      await expect.poll(() => subject.total("success")).toBe(1);
      expect(failing()).toBeNull();
    },
    { handler: UNREPEATED },
  ));

it("the latest of several outcomes says whether the subscriber fails, although an earlier one is written later", () =>
  StubbedSubscriber.run(
    async (subject) => {
      const { promise: tried, resolve: end } = Promise.withResolvers<DeliveryOutcome>();
      subject.outcome = (number) => {
        if (number === 1) return tried;
        setTimeout(end, 0, { type: "failed", attempt: ATTEMPT, error: "It fails" }); // right after this one has ended
        return { type: "delivered", attempt: ATTEMPT };
      };
      const attempted = subject.object.deliverNow(subject.key, outgoingEvent(1));
      await expect.poll(() => subject.attempted).toEqual([1]);
      subject.enqueue([EVENT]);
      await attempted;
      expect(subject.attempted).toEqual([1, 0]);
      expect(subject.object.stats("1h").failing).toMatchObject({ error: "It fails" });
    },
    { handler: { ...UNREPEATED, mayRepeat: async () => true } },
  ));
