/**
 * Every call that Workers make of objects, by their gateways: what fixtures are recorded of. The calls of a kind follow each
 * other in one object. An optional field is in one of them, and missing in another one.
 */

import { eventLogGateway } from "../../../src/delivery/event-log/shards/event-log-gateway.ts";
import { shardOf } from "../../../src/delivery/event-log/shards/shard-of.ts";
import type { OutgoingEvent } from "../../../src/delivery/port/delivery-record.ts";
import type { ReplayRequest } from "../../../src/delivery/port/replay.ts";
import type { SubscriberGateway, SubscriberKey } from "../../../src/delivery/port/subscriber-port.ts";
import type { Destination, WebhookMessage } from "../../../src/delivery/port/webhook-request.ts";
import { subscriberGateway } from "../../../src/delivery/subscribers.ts";
import { signInLimits } from "../../../src/features/people/sign-in-limits.ts";
import { requestRateGateway } from "../../../src/features/quotas/rates/request-rate-gateway.ts";
import type { LoggedRequest } from "../../../src/features/request-log/port/logged-request.ts";
import { requestLogGateway } from "../../../src/features/request-log/request-log-gateway.ts";
import { HOUR_MS } from "../../../src/platform/durations.ts";
import { archiveCalls, type Calls, keptAs, type Place } from "./place.ts";
import { ROOM_CALLS } from "./room-calls.ts";

const keyOf = ({ accountId }: Place): SubscriberKey => ({ kind: "webhook", accountId, id: "webhook" });

const eventOf = ({ now }: Place, eventId: string): OutgoingEvent => ({
  ...{ eventId, event: "user.created", roomId: "room", occurredAt: now },
  body: JSON.stringify({ event: "user.created", room_id: "room", user: { id: "user", name: "Zoë" } }),
});
const traced = (event: OutgoingEvent) => ({ ...event, trace: JSON.stringify({ requestId: "request" }) });

const replayOf = ({ now }: Place): ReplayRequest => ({
  ...{ from: now, to: now, status: null, roomId: null },
  names: ["user.created"],
});

/** No request reaches it: the target is not allowed. */
const DESTINATION: Destination = {
  ...{ url: "https://10.0.0.1/", secrets: ["whsec_c2VjcmV0"] },
  ...{ devTargets: [], ownHosts: [] },
};
const MESSAGE: WebhookMessage = { id: "message", body: "{}", replayId: null };

const subscribers =
  (call: (gateway: SubscriberGateway, key: SubscriberKey, place: Place) => Promise<unknown>) =>
  (place: Place): Promise<unknown> =>
    call(subscriberGateway(place.env), keyOf(place), place);

const SUBSCRIBER_CALLS: Calls = {
  "deliver an event at once": subscribers(async (to, key, place) => {
    const delivery = await to.deliverNow(key, traced(eventOf(place, "event 1")));
    place.kept.set("delivery", delivery?.id ?? "");
  }),
  "deliver an event at once, and once": subscribers((to, key, place) =>
    to.deliverNowOnce(key, eventOf(place, "event 2")),
  ),
  "list all deliveries": subscribers((to, key) => to.list(key, "any", { limit: 9, offset: 0 })),
  "list some deliveries": subscribers((to, key) =>
    to.list(key, "over", { limit: 9, offset: 0, beforeSeq: 2, event: "user.created", roomId: "room" }),
  ),
  "find a delivery": subscribers((to, key, place) => to.find(key, keptAs(place, "delivery"))),
  "find no delivery": subscribers((to, key) => to.find(key, "none")),
  "read the stats": subscribers((to, key) => to.stats(key, "1h")),
  "redeliver an event": subscribers((to, key, place) => to.redeliver(key, keptAs(place, "delivery"))),
  "redeliver some events": subscribers((to, key, place) =>
    to.redeliverSome(key, [keptAs(place, "delivery"), "none"]),
  ),
  "enqueue events": subscribers((to, key, place) =>
    to.enqueue(key, [traced(eventOf(place, "event 3")), eventOf(place, "event 4")], 1),
  ),
  "enqueue an event apart": subscribers((to, key, place) =>
    to.enqueueApart(key, traced(eventOf(place, "event 5")), 1),
  ),
  "expect a change": subscribers((to, key) => to.expectChange(key)),
  "notify of a change": subscribers((to, key) => to.notifyOfChange(key, 2)),
  "find no replay": subscribers((to, key) => to.findReplay(key)),
  "start a replay": subscribers((to, key, place) => to.startReplay(key, replayOf(place))),
  "find a replay": subscribers((to, key) => to.findReplay(key)),
  "start a replay beside another": subscribers((to, key, place) => to.startReplay(key, replayOf(place))),
  "have a request made": subscribers((to, key) => to.send(key, 1, DESTINATION, MESSAGE)),
  "have a traced request made": subscribers((to, key) =>
    to.send(key, 1, DESTINATION, { ...MESSAGE, trace: { requestId: "request" } }),
  ),
  "remove it": subscribers((to, key) => to.remove(key)),
  ...archiveCalls((place) => subscriberGateway(place.env).archived(keyOf(place))),
};

const EVERY_EVENT = { after: null, from: null, until: null, roomId: null, names: null, limit: 9 };

const EVENT_LOG_CALLS: Calls = {
  "append events": (place) =>
    eventLogGateway(place.env).append(place.accountId, "room", [
      traced(eventOf(place, "event 1")),
      eventOf(place, "event 2"),
    ]),
  "publish an event": (place) =>
    eventLogGateway(place.env).publish(place.accountId, "room", [eventOf(place, "event 3")]),
  "read the subscriptions": ({ env, accountId }) => eventLogGateway(env).subscriptions(accountId, "room"),
  "announce a change": ({ env, accountId }) => eventLogGateway(env).subscriptionsChanged(accountId),
  "count runs": ({ env, accountId }) =>
    eventLogGateway(env).countRuns(accountId, "room", { runs: 2, failedRuns: 1 }),
  "read the hours": ({ env, accountId }) => eventLogGateway(env).hours(accountId, 0, HOUR_MS),
  "read all events": ({ env, accountId }) =>
    eventLogGateway(env).read(accountId, shardOf("room"), EVERY_EVENT),
  "read some events": ({ env, accountId, now }) =>
    eventLogGateway(env).read(accountId, shardOf("room"), {
      ...{ after: 1, from: now, until: now, roomId: "room", names: ["user.created"], limit: 1 },
    }),
  "erase a user": ({ env, accountId }) => eventLogGateway(env).eraseUser(accountId, "room", "user"),
  "remove it": ({ env, accountId }) => eventLogGateway(env).remove(accountId),
  ...archiveCalls(({ env, accountId }) => eventLogGateway(env).archived(accountId)[shardOf("room")]),
};

const requestAt = (now: number): LoggedRequest => ({
  ...{ id: "request 1", at: now, method: "GET", route: "/rooms/{roomId}", operation: "getRoom" },
  ...{ status: 404, durationMs: 3, credential: "key", credentialId: "key 1", roomId: "room" },
  ...{ errorCode: "NOT_FOUND", errorMessage: "Room not found", address: "198.51.100.0/24", weight: 1 },
});
const ALL_REQUESTS = {
  ...{ limit: 1, before: null, failedOnly: false },
  ...{ operation: null, credentialId: null, roomId: null },
};

const REQUEST_LOG_CALLS: Calls = {
  "append requests": ({ env, accountId, now }) =>
    requestLogGateway(env).append(accountId, [
      requestAt(now),
      { ...requestAt(now), id: "request 2", clientRequestId: "mine", traceId: "trace" },
    ]),
  "list all requests": ({ env, accountId }) => requestLogGateway(env).list(accountId, ALL_REQUESTS),
  "list some requests": ({ env, accountId }) =>
    requestLogGateway(env).list(accountId, {
      ...{ limit: 9, before: 2, failedOnly: true },
      ...{ operation: "getRoom", credentialId: "key 1", roomId: "room" },
    }),
  "find a request": ({ env, accountId }) => requestLogGateway(env).find(accountId, "request 1"),
  "find no request": ({ env, accountId }) => requestLogGateway(env).find(accountId, "none"),
  "remove it": ({ env, accountId }) => requestLogGateway(env).remove(accountId),
};

const REQUEST_RATE_CALLS: Calls = {
  "report a rate": ({ env, accountId }) =>
    requestRateGateway(env).report(accountId, { counter: "counter", admitted: 10, refused: 5 }),
};

/** The network is the run's own: the platform counts beside the objects. */
const limitsIn = ({ env, accountId }: Place) => signInLimits(env, accountId);

const GUESS_LIMIT_CALLS: Calls = {
  "count a right password": async (place) => {
    const guess = await limitsIn(place).countPassword("zoe@example.com", null);
    await guess.forgive();
  },
  "count a right invitation": async (place) => (await limitsIn(place).countInvitation()).forgive(),
  "count too many mails": async (place) => {
    for (let mails = 0; mails < 3; mails += 1) await limitsIn(place).countMail("zoe@example.com");
    await limitsIn(place)
      .countMail("zoe@example.com")
      .catch(() => undefined);
  },
};

/** By the kinds of objects, as their fixtures are named, their namespaces and the calls of them. */
export const CALLS = {
  room: { namespace: "ROOMS", calls: ROOM_CALLS },
  subscriber: { namespace: "SUBSCRIBERS", calls: SUBSCRIBER_CALLS },
  "event-log": { namespace: "EVENT_LOGS", calls: EVENT_LOG_CALLS },
  "request-log": { namespace: "REQUEST_LOGS", calls: REQUEST_LOG_CALLS },
  "request-rate": { namespace: "REQUEST_RATES", calls: REQUEST_RATE_CALLS },
  "guess-limit": { namespace: "GUESS_LIMITS", calls: GUESS_LIMIT_CALLS },
} as const;
export type Kind = keyof typeof CALLS;
