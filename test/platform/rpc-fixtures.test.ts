/** Calls as each version made them, and their answers: objects of today understand the former, gateways of today the latter. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { EventLogObject } from "../../src/delivery/event-log/event-log-object.ts";
import type { DeliveryHandler, SubscriberPorts } from "../../src/delivery/subscriber/handler.ts";
import { SubscriberObject } from "../../src/delivery/subscriber/subscriber-object.ts";
import type { Env } from "../../src/env.ts";
import { GuessLimitObject } from "../../src/features/people/guess-limit-object.ts";
import { RequestRateObject } from "../../src/features/quotas/request-rate-object.ts";
import { RequestLogObject } from "../../src/features/request-log/request-log-object.ts";
import { toAppError } from "../../src/http/envelope.ts";
import { InboxObject, RoomObject, subscriberPorts } from "../../src/objects.ts";
import { ArchivedDurableObject } from "../../src/platform/objects/storage-archive.ts";
import { HOUR_MS } from "../../src/platform/time.ts";
import { colorOf } from "../../src/room/engine/presence/kept-states.ts";
import { inboxShardOf } from "../../src/wire/inbox.ts";
import { handlerOf } from "../delivery/stubbed-subscriber.ts";
import { type Account, account } from "../support/api.ts";
import { CALLS, type Kind } from "./rpc/calls.ts";
import eventLog1 from "./rpc/event-log-1.json?raw";
import { type Exchange, Names, type Recording, withMore } from "./rpc/exchange.ts";
import guessLimit1 from "./rpc/guess-limit-1.json?raw";
import inbox1 from "./rpc/inbox-1.json?raw";
import inbox2 from "./rpc/inbox-2.json?raw";
import type { Place } from "./rpc/place.ts";
import requestLog1 from "./rpc/request-log-1.json?raw";
import requestRate1 from "./rpc/request-rate-1.json?raw";
import room1 from "./rpc/room-1.json?raw";
import subscriber1 from "./rpc/subscriber-1.json?raw";

type Call = (object: string, method: string, sent: readonly unknown[]) => Promise<unknown>;

/** Every attempt succeeds. */
const handlerAt = (now: number): DeliveryHandler =>
  handlerOf({
    pace: { maxInFlight: 6, pausedUntil: 0 },
    deliver: async () => ({
      type: "delivered",
      attempt: { attempted_at: new Date(now).toISOString(), duration_ms: 1 },
    }),
  });

const createIdentity = async (api: Account["api"]): Promise<{ readonly id: string }> =>
  (await api.post<{ identity: { id: string } }>("/identities", { name: "Ada" })).data.identity;

/** A room with a user, and the objects of one kind that belong to it. */
class Run {
  readonly names: Names;
  readonly #kind: Kind;
  readonly #place: Omit<Place, "env">;
  readonly #instances = new Map<string, object>();

  private constructor(kind: Kind, place: Omit<Place, "env">) {
    this.#kind = kind;
    this.#place = place;
    const { accountId: account, roomId: room, userId: user, now } = place;
    const shard = `${account}:${inboxShardOf(user)}`;
    this.names = new Names({ shard, account, room, user, color: colorOf(user) }, now);
  }

  static async begin(kind: Kind): Promise<Run> {
    const { id: accountId, api } = await account();
    const { id: roomId } = await api.createRoom();
    const { id: userId } = kind === "inbox" ? await createIdentity(api) : await api.createUser(roomId);
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
    const name =
      this.#kind === "room" || this.#kind === "inbox" ? object : `${this.#place.accountId} ${object}`;
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

/** By version; the next one is recorded when it is listed here with null, and is then imported. */
type Fixtures = Readonly<Record<number, string | null>>;

const KINDS: readonly (readonly [Kind, { readonly prototype: object }, Fixtures])[] = [
  ["room", RoomObject, { 1: room1 }],
  ["subscriber", SubscriberObject, { 1: subscriber1 }],
  ["event-log", EventLogObject, { 1: eventLog1 }],
  ["request-log", RequestLogObject, { 1: requestLog1 }],
  ["request-rate", RequestRateObject, { 1: requestRate1 }],
  ["inbox", InboxObject, { 1: inbox1, 2: inbox2 }],
  ["guess-limit", GuessLimitObject, { 1: guessLimit1 }],
];

const HOW = `
While versions change, a Worker calls objects of the version before, and the other way round. So:
- what an argument or an answer gains has a new name, and is optional for those who read it;
- what was there before is still accepted and still sent, until one version after its last reader;
- what is called in another way is another call: give it another name in test/platform/rpc/*calls.ts;
- what is new is recorded: list the next version with null in this file, run it without CI, and import the JSON.
Never edit an earlier fixture.`;

/** Called by the platform. */
const EVENTS = ["constructor", "alarm", "webSocketMessage", "webSocketClose", "webSocketError"];

const methodsOf = (prototype: object): string[] =>
  Object.getOwnPropertyNames(prototype).filter((name) => !EVENTS.includes(name));

const ARCHIVE = methodsOf(ArchivedDurableObject.prototype);

const parse = (json: string | null): Recording => (json === null ? {} : (JSON.parse(json) as Recording));

/** Makes all calls of a kind of object, and returns what was sent and answered. */
async function record(kind: Kind): Promise<Recording> {
  const run = await Run.begin(kind);
  const recording: Record<string, Exchange[]> = {};
  for (const [name, call] of Object.entries(CALLS[kind].calls)) {
    const exchanges: Exchange[] = [];
    recording[name] = exchanges;
    const place = run.placeOf(async (object, method, sent) => {
      const exchange = run.names.encode({ object, method, sent, answer: null }) as Exchange;
      const place = exchanges.push(exchange) - 1; // several at once are in the order of the calls
      const answer = await run.call(object, method, sent);
      exchanges[place] = { ...exchange, answer: run.names.encode(answer) };
      return answer;
    });
    await call(place);
  }
  return recording;
}

/** What of the recorded calls the objects of today do not understand. */
async function replay(
  kind: Kind,
  recording: Recording,
  change: (sent: unknown) => unknown,
): Promise<string[]> {
  const run = await Run.begin(kind);
  const broken: string[] = [];
  for (const [name, exchanges] of Object.entries(recording))
    for (const { object, method, sent, answer } of exchanges) {
      const decoded = run.names.decode(change(sent)) as unknown[];
      const called = run.call(String(run.names.decode(object)), method, decoded);
      const now = await called.catch((error: unknown) => `refused: ${String(error)}`);
      broken.push(...run.names.compare(answer, now).broken.map((what) => `${name}: ${what}`));
    }
  return broken;
}

/** What of the recorded answers the gateways of today do not understand, or send in another way. */
async function answer(kind: Kind, recording: Recording): Promise<string[]> {
  const run = await Run.begin(kind);
  const broken: string[] = [];
  for (const [name, call] of Object.entries(CALLS[kind].calls)) {
    const exchanges = [...(recording[name] ?? [])];
    if (exchanges.length === 0) continue;
    const place = run.placeOf(async (object, method, sent) => {
      const exchange = exchanges.shift();
      const now = { object, method, sent };
      const { broken: problems } = run.names.compare(
        { object: exchange?.object, method: exchange?.method, sent: exchange?.sent },
        now,
      );
      broken.push(...problems.map((what) => `${name}: ${what}`));
      return run.names.decode(exchange?.answer);
    });
    await call(place).catch((error: unknown) => broken.push(`${name}: ${String(error)}`));
    broken.push(...exchanges.map(({ method }) => `${name}: ${method} is not called any more`));
  }
  return broken;
}

describe.each(KINDS)("calls of an object of the kind %s", (kind, { prototype }, fixtures) => {
  const recorded = Object.entries(fixtures).map(([version, json]) => [version, parse(json)] as const);

  it.each(recorded)(
    "as version %s made them are understood, also with more than is known",
    async (_, calls) => {
      expect(await replay(kind, calls, (sent) => sent), HOW).toEqual([]);
      expect(await replay(kind, calls, withMore), HOW).toEqual([]);
    },
  );

  it.each(recorded)("as version %s answered them are understood", async (_, calls) => {
    expect(await answer(kind, calls), HOW).toEqual([]);
  });

  it("are recorded as they are now, each method's included", async () => {
    const now = await record(kind);
    const [version, latest] = recorded.at(-1) ?? ["0", {}];
    const methods = Object.values(now).flatMap((exchanges) => exchanges.map(({ method }) => method));
    const all = [...methodsOf(prototype), ...(prototype instanceof ArchivedDurableObject ? ARCHIVE : [])];
    expect(all.filter((method) => !methods.includes(method))).toEqual([]);
    if (Object.keys(latest).length === 0)
      await expect(JSON.stringify(now, null, 2)).toMatchFileSnapshot(`./rpc/${kind}-${version}.json`);
    const { names } = await Run.begin(kind);
    expect(names.compare(latest, now), HOW).toEqual({ broken: [], more: [] });
  });
});

it("an object that lacks a method of a newer Worker is asked again", async () => {
  const stubs = [
    ...[
      env.ROOMS,
      env.SUBSCRIBERS,
      env.EVENT_LOGS,
      env.REQUEST_LOGS,
      env.REQUEST_RATES,
      env.GUESS_LIMITS,
      env.INBOXES,
    ],
  ].map((objects) => objects.getByName(crypto.randomUUID()));
  for (const stub of stubs) {
    const method: unknown = Reflect.get(stub, "ofALaterVersion");
    if (typeof method !== "function") throw new Error("A stub has every method");
    const error: unknown = await method().catch((thrown: unknown) => thrown);
    expect(toAppError(error, "Rooms")).toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: 5 });
  }
});
