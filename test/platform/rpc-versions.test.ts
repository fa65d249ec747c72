/** Workers and objects of two versions that follow each other: what each may count on of the other. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { EventLogObject } from "../../src/delivery/event-log/event-log-object.ts";
import { SubscriberObject } from "../../src/delivery/subscriber/subscriber-object.ts";
import { GuessLimitObject } from "../../src/features/people/guess-limit-object.ts";
import { RequestRateObject } from "../../src/features/quotas/request-rate-object.ts";
import { RequestLogObject } from "../../src/features/request-log/request-log-object.ts";
import { toAppError } from "../../src/http/envelope.ts";
import { RoomObject } from "../../src/objects.ts";
import type { ArchiveRpc } from "../../src/platform/objects/object-archive.ts";
import type { Stub } from "../../src/platform/objects/rpc.ts";

/** Every method that Workers call with the number of its arguments, and those that only earlier Workers call. */
type Called<Interface> = Readonly<
  Record<Exclude<keyof Interface & string, keyof Rpc.DurableObjectBranded>, number> & Record<string, number>
>;

const ARCHIVE: Called<ArchiveRpc> = { archive: 1, restore: 1, finishRestore: 0 };
/** The runtime's own handlers, and the fields that RPC does not show. */
type Unreachable =
  | "alarm"
  | "connect"
  | "webSocketMessage"
  | "webSocketClose"
  | "webSocketError"
  | "archived"
  | "clock";
const ROOM: Called<Omit<RoomObject, Unreachable>> = {
  ...ARCHIVE,
  ...{
    fetch: 1,
    read: 2,
    readUser: 2,
    readPersonalData: 4,
    reconcile: 1,
    apply: 2,
    request: 2,
    addParticipant: 3,
  },
  ...{ listDocuments: 1, describeDocument: 2, readDocument: 3, writeDocument: 4, deleteDocument: 2 },
  ...{ readTrail: 3, listVersions: 3, readVersion: 4, readWritten: 3, changeVersion: 3, writeStores: 3 },
};
const SUBSCRIBER: Called<Stub<SubscriberObject>> = {
  ...ARCHIVE,
  ...{
    enqueue: 3,
    enqueueApart: 3,
    expectChange: 1,
    notifyOfChange: 1,
    remove: 0,
    send: 2,
    list: 2,
    find: 1,
  },
  ...{
    startReplay: 2,
    stats: 1,
    findReplay: 0,
    redeliverSome: 2,
    redeliver: 2,
    deliverNow: 2,
    deliverNowOnce: 2,
  },
};
const EVENT_LOG: Called<Stub<EventLogObject>> = {
  ...ARCHIVE,
  ...{ append: 1, publish: 3, subscriptions: 2, subscriptionsChanged: 0, countRuns: 1, hours: 2 },
  ...{ eraseUser: 3, remove: 0, read: 1 },
};
const GUESS_LIMIT: Called<Stub<GuessLimitObject>> = { guess: 2, forgive: 2 };
const REQUEST_RATE: Called<Stub<RequestRateObject>> = { report: 2 };
const REQUEST_LOG: Called<Stub<RequestLogObject>> = { append: 1, list: 1, find: 1, remove: 0 };

/**
 * The methods that the Worker of the version before calls, with the number of its arguments. A method leaves this list
 * one version after its last caller; the compiler refuses a new one that is not in it.
 */
const CALLED: readonly (readonly [object, Readonly<Record<string, number>>])[] = [
  [RoomObject.prototype, ROOM],
  [SubscriberObject.prototype, SUBSCRIBER],
  [EventLogObject.prototype, EVENT_LOG],
  [GuessLimitObject.prototype, GUESS_LIMIT],
  [RequestLogObject.prototype, REQUEST_LOG],
  [RequestRateObject.prototype, REQUEST_RATE],
];

describe("an object", () => {
  it("has every method that the Worker of the version before calls, and needs no more arguments", () => {
    const broken = CALLED.flatMap(([prototype, methods]) =>
      Object.entries(methods).filter(([name, passed]) => {
        const method: unknown = Reflect.get(prototype, name);
        return typeof method !== "function" || method.length > passed;
      }),
    );
    expect(broken).toEqual([]);
  });

  it("that lacks a method of a newer Worker is asked again", async () => {
    const stubs = [
      ...[env.ROOMS, env.SUBSCRIBERS, env.EVENT_LOGS, env.REQUEST_LOGS, env.REQUEST_RATES, env.GUESS_LIMITS],
    ].map((objects) => objects.getByName(crypto.randomUUID()));
    for (const stub of stubs) {
      const method: unknown = Reflect.get(stub, "ofALaterVersion");
      if (typeof method !== "function") throw new Error("A stub has every method");
      const error: unknown = await method().catch((thrown: unknown) => thrown);
      expect(toAppError(error, "Rooms")).toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: 5 });
    }
  });
});
