/** What fan-out reports of subscribers that could not take an event. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { fanOut } from "../../src/delivery/fan-out.ts";
import type { SubscriberGateway } from "../../src/delivery/port/subscriber-port.ts";
import { subscriberGateway } from "../../src/delivery/subscriber-gateway.ts";
import { openTenant } from "../../src/platform/d1.ts";

const unreachable: SubscriberGateway = {
  ...subscriberGateway(env),
  enqueue: () => Promise.reject(new Error("The subscriber's object cannot be reached")),
};

it("an event is still owed to each of several subscribers that fail at once", async () => {
  const pending = ["webhook", "workflow"].map((kind) => ({ kind, id: crypto.randomUUID(), version: 1 }));
  const event = {
    id: crypto.randomUUID(),
    event: "user.created",
    occurredAt: Date.now(),
    body: "{}",
    pendingSubscriptions: JSON.stringify(pending),
  } as const;
  const tenant = openTenant(env.DB, crypto.randomUUID());
  const unreached = await fanOut(tenant, unreachable, crypto.randomUUID(), [event]);
  expect(JSON.parse(unreached.get(event.id) ?? "[]")).toEqual(pending);
});
