/** Workers and objects of two versions that follow each other: what each may count on of the other. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { EventLogObject } from "../../src/delivery/event-log/event-log-object.ts";
import { SubscriberObject } from "../../src/delivery/subscriber/subscriber-object.ts";
import type { Env } from "../../src/env.ts";
import { GuessLimitObject } from "../../src/features/people/limits/guess-limit-object.ts";
import { RequestRateObject } from "../../src/features/quotas/rates/object/request-rate-object.ts";
import { RequestLogObject } from "../../src/features/request-log/request-log-object.ts";
import { toAppError } from "../../src/http/refusal.ts";
import { RoomObject } from "../../src/objects.ts";
import type { ArchiveRpc } from "../../src/platform/archive/object-archive.ts";
import type { Stub } from "../../src/platform/objects/rpc.ts";
import type { Comment } from "../../src/wire/comment.ts";
import { account } from "../support/api.ts";

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
  ...{ fetch: 1, read: 2, readUser: 2, readPersonalData: 4, reconcile: 1, apply: 2, request: 2, visit: 3 },
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
  ...{ append: 1, publish: 3, subscriptions: 2, subscriptionsChanged: 0, countRuns: 1, hours: 1 },
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

describe("comments, whose pages begin behind a place", () => {
  async function roomWithComment() {
    const owner = await account();
    const room = await owner.api.createRoom();
    const user = await owner.api.createUser(room.id);
    const comment = { userId: user.id, text: "Hello" };
    const created = await owner.api.post<{ comment: Comment }>(`/rooms/${room.id}/comments`, comment);
    return { owner, path: `/rooms/${room.id}/comments`, room, user, comment: created.data.comment };
  }

  it("are listed and exported for a Worker that knows no places", async () => {
    const { owner, room, user, comment } = await roomWithComment();
    const stub = env.ROOMS.getByName(room.id);
    const request = JSON.stringify({ type: "COMMENT_LIST", data: { limit: 50, offset: 0 } });
    expect(JSON.parse(await stub.request(owner.id, request)).data).toMatchObject({
      comments: [comment],
      total: 1,
    });
    const exported = await stub.readPersonalData(owner.id, user.id, "comments", comment.id);
    expect(exported.records).toMatchObject([{ type: "comment" }]);
  });

  it("of a room that knows no places are asked for again, so that no list ends early", async () => {
    const { owner, path } = await roomWithComment();
    const request = async (roomId: string, ...of: Parameters<RoomObject["request"]>): Promise<string> => {
      const response = JSON.parse(await env.ROOMS.getByName(roomId).request(...of));
      const { next: _, positions: __, ...data } = response.data;
      return JSON.stringify({ ...response, data });
    };
    const earlier = {
      getByName: (roomId: string) => ({
        request: (...of: Parameters<RoomObject["request"]>) => request(roomId, ...of),
      }),
    };
    const list = async (query: string, rooms: object) => {
      const response = await app.fetch(
        owner.api.request("GET", `${path}${query}`),
        { ...env, ROOMS: rooms as Env["ROOMS"] },
        createExecutionContext(),
      );
      return [response.status, response.headers.get("Retry-After")];
    };
    expect(await list("", env.ROOMS)).toEqual([200, null]);
    expect(await list("", earlier)).toEqual([429, "5"]);
    expect(await list("?search=hello", earlier)).toEqual([429, "5"]);
  });
});
