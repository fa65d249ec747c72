/** A queue whose courier makes no attempt twice: what is known of an event when something fails on our side. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { Courier, Outcome } from "../../src/delivery/handler.ts";
import { Queue } from "../../src/delivery/subscriber/delivery-queue.ts";
import type { Envelope, SubscriberKey } from "../../src/delivery/subscriber-port.ts";

const START = Date.UTC(2100, 0, 1);

const envelope: Envelope = {
  eventId: crypto.randomUUID(),
  event: "user.created",
  roomId: "room",
  body: "{}",
  occurredAt: START,
};

/** Runs `work` with a queue whose courier comes back with this. */
function withQueue<T>(outcome: Outcome, work: (queue: Queue, key: SubscriberKey) => Promise<T>): Promise<T> {
  const key: SubscriberKey = { kind: "workflow", accountId: crypto.randomUUID(), id: crypto.randomUUID() };
  const courier: Courier = { interruption: "It was cut off", carry: async () => outcome, expect: () => {} };
  return runInDurableObject(env.SUBSCRIBERS.getByName(`workflow:${key.id}`), (_, state) =>
    work(
      new Queue(
        state,
        () => courier,
        () => START,
      ),
      key,
    ),
  );
}

it("whoever asked by hand is not kept waiting for another try", async () => {
  const postponed: Outcome = { type: "postponed", until: START + 5_000, why: "It could not be started" };
  await withQueue(postponed, async (queue, key) => {
    const row = await queue.ask(key, envelope).attempted;
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
    const row = await queue.ask(key, envelope).attempted;
    expect(row).toMatchObject({ status: "failed", error: "What came of it could not be recorded" });
  });
});

it("what is not wanted any more leaves no record", async () => {
  await withQueue({ type: "unwanted" }, async (queue, key) => {
    expect(await queue.ask(key, envelope).attempted).toBeNull();
    expect(queue.records.list("any", 10, 0)).toEqual({ rows: [], total: 0 });
  });
});

it("what is asked for by hand has the next turn", async () => {
  const carried: string[] = [];
  const key: SubscriberKey = { kind: "workflow", accountId: crypto.randomUUID(), id: crypto.randomUUID() };
  await runInDurableObject(env.SUBSCRIBERS.getByName(`workflow:${key.id}`), async (_, state) => {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const courier: Courier = {
      interruption: "It was cut off",
      carry: async ({ body }) => {
        carried.push(body);
        await opened;
        return { type: "unwanted" };
      },
      expect: () => {},
    };
    const queue = new Queue(
      state,
      () => courier,
      () => START,
    );
    const crowd = Array.from({ length: 20 }, (_, index) => ({
      ...envelope,
      eventId: crypto.randomUUID(),
      roomId: `room ${index}`,
      body: `${index}`,
    }));
    queue.take(key, crowd, 1);
    const { attempted } = queue.ask(key, { ...envelope, body: "by hand" });
    open();
    await attempted;
    expect(carried.indexOf("by hand")).toBe(6);
  });
});
