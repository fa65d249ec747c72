/** Workers and objects of two versions that follow each other: what each may count on of the other. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { SubscriberObject } from "../../src/delivery/subscriber/subscriber-object.ts";
import { EventLogObject } from "../../src/event-log/object/event-log-object.ts";
import { toAppError } from "../../src/http/refusal.ts";
import { GuessLimitObject } from "../../src/people/limits/guess-limit-object.ts";
import { RoomObject } from "../../src/realtime/room-object.ts";

/**
 * The methods that the Worker of the version before calls, with the number of its arguments. A method leaves this list
 * one version after its last caller.
 */
const CALLED: readonly (readonly [object, Readonly<Record<string, number>>])[] = [
  [
    RoomObject.prototype,
    {
      fetch: 1,
      read: 2,
      readUser: 2,
      reconcile: 1,
      apply: 2,
      request: 2,
      listDocuments: 1,
      readDocument: 3,
      writeDocument: 4,
      deleteDocument: 2,
      writeStores: 3,
    },
  ],
  [
    SubscriberObject.prototype,
    {
      enqueue: 3,
      notifyOfChange: 1,
      remove: 0,
      list: 3,
      startReplay: 2,
      stats: 1,
      findReplay: 0,
      redeliver: 2,
      deliverNow: 2,
      deliverNowOnce: 2,
    },
  ],
  [EventLogObject.prototype, { append: 1, remove: 0, read: 1 }],
  [GuessLimitObject.prototype, { guess: 2, forgive: 2 }],
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
    const stubs = [env.ROOMS, env.SUBSCRIBERS, env.EVENT_LOGS, env.REQUEST_LOGS, env.GUESS_LIMITS].map(
      (objects) => objects.getByName(crypto.randomUUID()),
    );
    for (const stub of stubs) {
      const method: unknown = Reflect.get(stub, "ofALaterVersion");
      if (typeof method !== "function") throw new Error("A stub has every method");
      const error: unknown = await method().catch((thrown: unknown) => thrown);
      expect(toAppError(error, "Rooms")).toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: 5 });
    }
  });
});
