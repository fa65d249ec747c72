/** Objects for calls that are recorded or replayed: each run has its own, and their alarms do not ring. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { DeliveryHandler, SubscriberPorts } from "../../../src/delivery/subscriber/handler.ts";
import { SubscriberObject } from "../../../src/delivery/subscriber/subscriber-object.ts";
import type { Env } from "../../../src/env.ts";
import { subscriberPorts } from "../../../src/objects.ts";
import { HOUR_MS } from "../../../src/platform/time.ts";
import { colorOf } from "../../../src/room/engine/presence/kept-states.ts";
import { account } from "../../support/api.ts";
import { CALLS, type Kind } from "./calls.ts";
import { Names } from "./exchange.ts";
import type { Place } from "./place.ts";

type Call = (object: string, method: string, sent: readonly unknown[]) => Promise<unknown>;

/** Every attempt succeeds. */
const handlerAt = (now: number): DeliveryHandler => ({
  ...{ batch: null, interruption: null, pace: { maxInFlight: 6, pausedUntil: 0 } },
  ...{ requireVersion: () => {}, release: () => {} },
  ...{ suspend: () => Promise.resolve(), reportBacklog: () => Promise.resolve() },
  deliver: async () => ({
    type: "delivered",
    attempt: { attempted_at: new Date(now).toISOString(), duration_ms: 1 },
  }),
});

/** A room with a user, and the objects of one kind that belong to it. */
export class Run {
  readonly names: Names;
  readonly #kind: Kind;
  readonly #place: Omit<Place, "env">;
  readonly #instances = new Map<string, object>();

  private constructor(kind: Kind, place: Omit<Place, "env">) {
    this.#kind = kind;
    this.#place = place;
    const { accountId: account, roomId: room, userId: user, now } = place;
    this.names = new Names({ account, room, user, color: colorOf(user) }, now);
  }

  static async begin(kind: Kind): Promise<Run> {
    const { id: accountId, api } = await account();
    const { id: roomId } = await api.createRoom();
    const { id: userId } = await api.createUser(roomId);
    if (kind === "event-log")
      await api.post("/webhooks", { url: "http://127.0.0.1/", events: ["comment.created"] });
    // Alarms come by the real clock: what the objects plan is an hour away.
    const now = Date.now() + HOUR_MS;
    return new Run(kind, { accountId, roomId, userId, now, kept: new Map() });
  }

  /** The place of the calls, when the objects' methods are this. */
  placeOf(call: Call): Place {
    const stubOf = (object: string) =>
      new Proxy(
        {},
        {
          get:
            (_, method) =>
            (...sent: unknown[]) =>
              call(object, String(method), sent),
        },
      );
    const { namespace } = CALLS[this.#kind];
    return { ...this.#place, env: asEnv({ ...env, [namespace]: { getByName: stubOf } }) };
  }

  /** Calls a method of an object of this run. Arguments and answers are copied, as RPC does. */
  call: Call = async (object, method, sent) => {
    const { namespace } = CALLS[this.#kind];
    const name = this.#kind === "room" ? object : `${this.#place.accountId} ${object}`;
    const stub: DurableObjectStub = env[namespace].getByName(name) as DurableObjectStub;
    return runInDurableObject(stub, async (existing, state) => {
      const instance = this.#instances.get(object) ?? this.#prepare(existing, state);
      this.#instances.set(object, instance);
      const run: unknown = Reflect.get(instance, method);
      if (typeof run !== "function") throw new Error(`No method ${method}`);
      if (method === "fetch") {
        const response = await run.call(instance, new Request(...(sent as [string, RequestInit])));
        return { status: (response as Response).status }; // a socket cannot leave its object here
      }
      return structuredClone(await run.apply(instance, structuredClone(sent)));
    });
  };

  #prepare(existing: object, state: DurableObjectState): object {
    const { now } = this.#place;
    const ports: SubscriberPorts = {
      ...subscriberPorts(asEnv(env)),
      createHandler: () => handlerAt(now),
      readLog: () => new Promise(() => {}), // a replay does not end while it is looked at
    };
    const instance = this.#kind === "subscriber" ? new SubscriberObject(state, asEnv(env), ports) : existing;
    Reflect.set(instance, "clock", () => now);
    return instance;
  }
}

/** With other objects than the bindings of the test have. */
const asEnv = (bindings: object): Env => bindings as Env;
