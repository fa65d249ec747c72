/** Whom fan-out gives an event, and what it reports of subscribers that could not take it. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { SubscriberGateway } from "../../src/delivery/port/subscriber-port.ts";
import { fanOut, subscriberGateway } from "../../src/delivery/subscribers.ts";
import { openTenant } from "../../src/platform/d1.ts";
import { type Api, account } from "../support/api.ts";

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

it("an event is for the enabled subscribers to it of the organization, for its room or for all", async () => {
  const [owner, stranger] = [await account(), await account()];
  const [room, otherRoom] = [await owner.api.createRoom(), await owner.api.createRoom()];
  const create = async (api: Api, fields: object = {}) => {
    const body = { url: "https://example.com/hook", events: ["user.created"], ...fields };
    return (await api.post<{ webhook: { id: string } }>("/webhooks", body)).data.webhook.id;
  };
  const wanted = [await create(owner.api), await create(owner.api, { roomId: room.id })];
  await create(owner.api, { roomId: otherRoom.id });
  await create(owner.api, { events: ["user.deleted"] });
  await create(stranger.api);
  await create(owner.api, { enabled: false });
  const reached: string[] = [];
  const recording: SubscriberGateway = {
    ...subscriberGateway(env),
    enqueue: async ({ id }) => void reached.push(id),
  };
  const event = {
    id: crypto.randomUUID(),
    event: "user.created",
    occurredAt: Date.now(),
    body: "{}",
  } as const;
  const fresh = { ...event, pendingSubscriptions: null };
  expect(await fanOut(openTenant(env.DB, owner.id), recording, room.id, [fresh])).toEqual(new Map());
  expect(reached.sort()).toEqual(wanted.sort());
});
