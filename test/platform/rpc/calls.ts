/**
 * Every call that Workers make of objects, by their gateways: what fixtures are recorded of. The calls of a kind follow each
 * other in one object. An optional field is in one of them, and missing in another one.
 */

import {
  eraseFromLog,
  invalidateSubscriptions,
  openEventLogs,
  readHours,
  removeLog,
  shardOf,
} from "../../../src/delivery/event-log/shards.ts";
import { connectInbox, openInbox } from "../../../src/delivery/inboxes.ts";
import type { OutgoingEvent, SubscriberKey } from "../../../src/delivery/outbox/subscription.ts";
import type { ReplayRequest } from "../../../src/delivery/subscriber/delivery.ts";
import type { Destination, WebhookMessage } from "../../../src/delivery/subscriber/handler.ts";
import { openDelivery, type Subscribers } from "../../../src/delivery/subscribers.ts";
import type { InboxObject } from "../../../src/features/inbox/inbox-object.ts";
import { signInLimits } from "../../../src/features/people/sign-in-limits.ts";
import { openRequestRates } from "../../../src/features/quotas/request-counters.ts";
import { openRequestLogs } from "../../../src/features/request-log/request-log-object.ts";
import type { LoggedRequest } from "../../../src/features/request-log/schema.ts";
import { type ArchiveRpc, archivedObject } from "../../../src/platform/objects/object-archive.ts";
import { HOUR_MS } from "../../../src/platform/time.ts";
import type { InboxActivity } from "../../../src/wire/inbox.ts";
import { DEFAULTS } from "../../../src/wire/notification-settings.ts";
import { archiveCalls, type Calls, keptAs, type Place } from "./place.ts";
import { ROOM_CALLS, upgrade } from "./room-calls.ts";

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
  (call: (to: Subscribers, key: SubscriberKey, place: Place) => Promise<unknown>) =>
  (place: Place): Promise<unknown> =>
    call(openDelivery(place.env).subscribers, keyOf(place), place);

const SUBSCRIBER_CALLS: Calls = {
  "deliver an event at once": subscribers(async (to, key, place) => {
    const delivery = await to(key).deliverNow(key, traced(eventOf(place, "event 1")));
    place.kept.set("delivery", delivery?.id ?? "");
  }),
  "deliver an event at once, and once": subscribers((to, key, place) =>
    to(key).deliverNowOnce(key, eventOf(place, "event 2")),
  ),
  "list all deliveries": subscribers((to, key) => to(key).list("any", { limit: 9, offset: 0 })),
  "list some deliveries": subscribers((to, key) =>
    to(key).list("over", { limit: 9, offset: 0, beforeSeq: 2, event: "user.created", roomId: "room" }),
  ),
  "find a delivery": subscribers((to, key, place) => to(key).find(keptAs(place, "delivery"))),
  "find no delivery": subscribers((to, key) => to(key).find("none")),
  "read the stats": subscribers((to, key) => to(key).stats("1h")),
  "redeliver an event": subscribers((to, key, place) => to(key).redeliver(key, keptAs(place, "delivery"))),
  "redeliver some events": subscribers((to, key, place) =>
    to(key).redeliverSome(key, [keptAs(place, "delivery"), "none"]),
  ),
  "enqueue events": subscribers((to, key, place) =>
    to(key).enqueue(key, [traced(eventOf(place, "event 3")), eventOf(place, "event 4")], 1),
  ),
  "enqueue an event apart": subscribers((to, key, place) =>
    to(key).enqueueApart(key, traced(eventOf(place, "event 5")), 1),
  ),
  "expect a change": subscribers((to, key) => to(key).expectChange(key)),
  "notify of a change": subscribers((to, key) => to(key).notifyOfChange(2)),
  "find no replay": subscribers((to, key) => to(key).findReplay()),
  "start a replay": subscribers((to, key, place) => to(key).startReplay(key, replayOf(place))),
  "find a replay": subscribers((to, key) => to(key).findReplay()),
  "start a replay beside another": subscribers((to, key, place) => to(key).startReplay(key, replayOf(place))),
  "have a request made": subscribers((to, key) => to(key, 1).send(DESTINATION, MESSAGE)),
  "have a traced request made": subscribers((to, key) =>
    to(key, 1).send(DESTINATION, { ...MESSAGE, trace: { requestId: "request" } }),
  ),
  "remove it": subscribers((to, key) => to(key).remove()),
  ...archiveCalls((place) =>
    archivedObject("Webhooks", () => openDelivery(place.env).subscribers(keyOf(place))),
  ),
};

const EVERY_EVENT = { after: null, from: null, until: null, roomId: null, names: null, limit: 9 };

const shardIn = ({ env, accountId }: Place) => openEventLogs(env)(accountId, shardOf("room"));

const EVENT_LOG_CALLS: Calls = {
  "append events": (place) =>
    shardIn(place).append([traced(eventOf(place, "event 1")), eventOf(place, "event 2")]),
  "publish an event": (place) => shardIn(place).publish(place.accountId, "room", [eventOf(place, "event 3")]),
  "read the subscriptions": (place) => shardIn(place).subscriptions(place.accountId, "room"),
  "announce a change": ({ env, accountId }) => invalidateSubscriptions(openEventLogs(env), accountId),
  "count runs": (place) => shardIn(place).countRuns({ runs: 2, failedRuns: 1 }),
  "read the hours": ({ env, accountId }) => readHours(openEventLogs(env), accountId, 0, HOUR_MS),
  "read all events": (place) => shardIn(place).read(EVERY_EVENT),
  "read some events": (place) =>
    shardIn(place).read({
      ...{ after: 1, from: place.now, until: place.now, roomId: "room", names: ["user.created"], limit: 1 },
    }),
  "erase a user": ({ env, accountId }) => eraseFromLog(openEventLogs(env), accountId, "room", "user"),
  "remove it": ({ env, accountId }) => removeLog(openEventLogs(env), accountId),
  ...archiveCalls((place) => archivedObject("Events", () => shardIn(place))),
};

const requestAt = (now: number): LoggedRequest => ({
  ...{ id: "request 1", at: now, method: "GET", route: "/rooms/{roomId}", operation: "getRoom" },
  ...{ status: 404, durationMs: 3, credential: "key", credentialId: "key 1", roomId: "room" },
  ...{ errorCode: "NOT_FOUND", errorMessage: "Room not found", address: "198.51.100.0/24", weight: 1 },
  ...{ clientRequestId: null, traceId: null },
});
const ALL_REQUESTS = {
  ...{ limit: 1, before: null, failedOnly: false },
  ...{ operation: null, credentialId: null, roomId: null },
};

const REQUEST_LOG_CALLS: Calls = {
  "append requests": ({ env, accountId, now }) =>
    openRequestLogs(env)(accountId).append([
      requestAt(now),
      { ...requestAt(now), id: "request 2", clientRequestId: "mine", traceId: "trace" },
    ]),
  "list all requests": ({ env, accountId }) => openRequestLogs(env)(accountId).list(ALL_REQUESTS),
  "list some requests": ({ env, accountId }) =>
    openRequestLogs(env)(accountId).list({
      ...{ limit: 9, before: 2, failedOnly: true },
      ...{ operation: "getRoom", credentialId: "key 1", roomId: "room" },
    }),
  "find a request": ({ env, accountId }) => openRequestLogs(env)(accountId).find("request 1"),
  "find no request": ({ env, accountId }) => openRequestLogs(env)(accountId).find("none"),
  "remove it": ({ env, accountId }) => openRequestLogs(env)(accountId).remove(),
};

const REQUEST_RATE_CALLS: Calls = {
  "report a rate": ({ env, accountId }) =>
    openRequestRates(env).report(accountId, { counter: "counter", admitted: 10, refused: 5 }),
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

/** The user of the place is an identity. */
const inboxIn = ({ env, accountId, userId }: Place) => openInbox<InboxObject>(env)(accountId, userId);

const activityIn = ({ now, roomId }: Place, id: string, seq: number): InboxActivity => ({
  ...{ id, kind: "thread", roomId, subjectId: "thread", seq, at: now, by: "author" },
  data: { commentId: id },
});
const ownActivityIn = (place: Place): InboxActivity => ({
  ...activityIn(place, "activity", 1),
  ...{ kind: "$order", roomId: null, subjectId: "order", seq: null, by: null, data: { table: 7 } },
});

const ALL_ITEMS = { limit: 9, after: null, unread: null, roomId: null, kind: null };

const PUSH_TARGET = {
  ...{ endpoint: "https://push.example/1", p256dh: "p256dh", auth: "auth" },
  ...{ origin: "https://atrium.example", expiresAt: null },
};

const INBOX_CALLS: Calls = {
  "deliver an activity": (place) => inboxIn(place).deliver([place.userId], [ownActivityIn(place)], DEFAULTS),
  "list all items": async (place) => {
    const page = await inboxIn(place).list({ identityId: place.userId }, ALL_ITEMS);
    place.kept.set("item", page?.notifications[0]?.id ?? "");
  },
  "add a push target": (place) => inboxIn(place).addPushTarget(place.userId, PUSH_TARGET, "key"),
  "list push targets": (place) => inboxIn(place).listPushTargets(place.userId, "key"),
  "list no push targets": (place) => inboxIn(place).listPushTargets(place.userId, null),
  "export all items": (place) => inboxIn(place).export(place.userId, { ...ALL_ITEMS, limit: 1 }),
  "deliver activities": (place) =>
    inboxIn(place).deliver(
      [place.userId],
      [activityIn(place, "comment 1", 1), activityIn(place, "comment 2", 2)],
      DEFAULTS,
    ),
  "list some items": (place) =>
    inboxIn(place).list(
      { identityId: place.userId, rooms: [place.roomId] },
      {
        ...{ limit: 1, unread: true, roomId: place.roomId, kind: "thread" },
        after: { notifiedAt: place.now + 1, id: "item" },
      },
    ),
  "count unread items": (place) => inboxIn(place).count({ identityId: place.userId }),
  "mark an item up to a seq": (place) =>
    inboxIn(place).markItem({ identityId: place.userId }, keptAs(place, "item"), 0),
  "mark an item": (place) =>
    inboxIn(place).markItem({ identityId: place.userId }, keptAs(place, "item"), null),
  "mark no item": (place) => inboxIn(place).markItem({ identityId: place.userId }, "none", null),
  "mark up to a position": (place) =>
    inboxIn(place).markRead([place.userId], {
      roomId: place.roomId,
      kind: "thread",
      subjectId: "thread",
      upTo: 1,
    }),
  "mark all items": (place) => inboxIn(place).markAll({ identityId: place.userId, rooms: [place.roomId] }),
  "remove a push target": (place) => inboxIn(place).removePushTarget(place.userId, PUSH_TARGET.endpoint),
  "read the settings": (place) => inboxIn(place).readSettings(place.userId),
  "change the settings": (place) =>
    inboxIn(place).changeSettings(place.userId, { email: { enabled: false } }),
  "list what was sent": (place) => inboxIn(place).listSendings(place.userId, 9),
  "read a mail": (place) => inboxIn(place).readMail(place.userId, "sending", "ada@example.com"),
  "finish a mail": (place) => inboxIn(place).finishMail(place.userId, "sending", "sent"),
  "remove activities": (place) =>
    inboxIn(place).removeItems([place.userId], {
      ...{ roomId: place.roomId, kind: "thread", subjectId: "thread" },
      activityIds: ["comment 2"],
    }),
  "remove a subject": (place) =>
    inboxIn(place).removeItems([place.userId], { roomId: place.roomId, subjectId: "thread" }),
  "remove a room": (place) => inboxIn(place).removeItems([place.userId], { roomId: place.roomId }),
  "remove a thread from all": (place) =>
    inboxIn(place).removeFromAll({ roomId: place.roomId, kind: "thread", subjectId: "thread" }),
  "remove comments from all": (place) =>
    inboxIn(place).removeFromAll({
      ...{ roomId: place.roomId, kind: "thread", subjectId: "thread", activityIds: ["activity"] },
    }),
  "remove a room from all": (place) => inboxIn(place).removeFromAll({ roomId: place.roomId }),
  "delete an item": (place) => inboxIn(place).deleteItem({ identityId: place.userId }, keptAs(place, "item")),
  "delete all items": (place) => inboxIn(place).deleteAll({ identityId: place.userId }),
  "open a socket": ({ env, accountId, userId }) => connectInbox(env)(accountId, userId, upgrade()),
  "count anew": (place) => inboxIn(place).recount([place.userId]),
  "count all anew": (place) => inboxIn(place).recount(null),
  "close the sockets": (place) => inboxIn(place).closeSockets([place.userId]),
  "close all sockets": (place) => inboxIn(place).closeSockets(null),
  "remove it": (place) => inboxIn(place).remove([place.userId]),
  "remove all": (place) => inboxIn(place).removeAll(),
  ...archiveCalls((place) =>
    archivedObject("Inbox", () => openInbox<ArchiveRpc>(place.env)(place.accountId, place.userId)),
  ),
};

/** By the kinds of objects, as their fixtures are named, their namespaces and the calls of them. */
export const CALLS = {
  room: { namespace: "ROOMS", calls: ROOM_CALLS },
  subscriber: { namespace: "SUBSCRIBERS", calls: SUBSCRIBER_CALLS },
  "event-log": { namespace: "EVENT_LOGS", calls: EVENT_LOG_CALLS },
  "request-log": { namespace: "REQUEST_LOGS", calls: REQUEST_LOG_CALLS },
  "request-rate": { namespace: "REQUEST_RATES", calls: REQUEST_RATE_CALLS },
  inbox: { namespace: "INBOXES", calls: INBOX_CALLS },
  "guess-limit": { namespace: "GUESS_LIMITS", calls: GUESS_LIMIT_CALLS },
} as const;
export type Kind = keyof typeof CALLS;
