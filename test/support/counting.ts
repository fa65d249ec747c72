/** Bindings that count: how often a request goes to D1, to R2, and how often it calls objects of rooms and subscribers. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { app } from "../../src/app.ts";
import type { Env } from "../../src/env.ts";
import type { Account } from "./api.ts";

const RUNS = new Set<PropertyKey>(["all", "first", "raw", "run"]);

/** D1 as it is, but for telling `onTrip` of each round trip: a statement that is run, or a whole batch. */
function countingD1(d1: D1Database, onTrip: () => void): D1Database {
  const originals = new WeakMap<object, D1PreparedStatement>();
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement => {
    const wrapped = new Proxy(statement, {
      get(target, name) {
        if (RUNS.has(name)) onTrip();
        if (name === "bind") return (...values: unknown[]) => wrap(target.bind(...values));
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    originals.set(wrapped, statement);
    return wrapped;
  };
  return new Proxy(d1, {
    get(target, name) {
      if (name === "prepare") return (query: string) => wrap(target.prepare(query));
      if (name === "batch") {
        return (statements: D1PreparedStatement[]) => {
          onTrip();
          return target.batch(statements.map((statement) => originals.get(statement) ?? statement));
        };
      }
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** A namespace of objects as it is, but for telling `onCall` of each call. */
const countingObjects = <T extends Env["ROOMS"] | Env["SUBSCRIBERS"]>(objects: T, onCall: () => void): T =>
  new Proxy(objects, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        if (name === "getByName" || name === "get") onCall();
        return Reflect.apply(member, target, args);
      };
    },
  });

/** R2 as it is, but for telling `onCall` of each call, those of an upload in parts too. */
function countingR2<T extends R2Bucket | R2MultipartUpload>(r2: T, onCall: () => void): T {
  return new Proxy(r2, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        onCall();
        const result: unknown = await Reflect.apply(member, target, args);
        return name === "createMultipartUpload" ? countingR2(result as R2MultipartUpload, onCall) : result;
      };
    },
  });
}

export interface Cost {
  readonly status: number;
  /** D1 round trips, those that the answer does not wait for included. */
  readonly trips: number;
  /** Calls of rooms' objects. */
  readonly objectCalls: number;
  /** Calls of the objects of webhooks and workflows. */
  readonly subscriberCalls: number;
  readonly r2Calls: number;
}

const JSON_TYPE = { "Content-Type": "application/json" };

/** Costs of one request of the organization. `bindings` replace some; a body that is no form is sent as JSON. */
export async function costOf(
  owner: Pick<Account, "api">,
  method: string,
  path: string,
  body?: unknown,
  bindings: Partial<Env> = {},
): Promise<Cost> {
  // Waits for events that earlier requests left: this one would pass them on.
  const accountId = owner.api.base.split("/").at(-1);
  const left = env.DB.prepare("SELECT id FROM outbox_events WHERE account_id = ? LIMIT 1").bind(accountId);
  await expect.poll(() => left.first(), { timeout: 20_000 }).toBeNull();
  let trips = 0;
  let objectCalls = 0;
  let subscriberCalls = 0;
  let r2Calls = 0;
  const counting: Env = {
    ...env,
    // One database, as in most deployments.
    ...{ DB_2: undefined, DB_3: undefined },
    ...bindings,
    DB: countingD1(env.DB, () => {
      trips += 1;
    }),
    ROOMS: countingObjects(env.ROOMS, () => {
      objectCalls += 1;
    }),
    SUBSCRIBERS: countingObjects(env.SUBSCRIBERS, () => {
      subscriberCalls += 1;
    }),
    FILES: countingR2(env.FILES, () => {
      r2Calls += 1;
    }),
  };
  const isForm = body instanceof FormData;
  const request = owner.api.request(method, path, {
    ...(isForm ? {} : { headers: JSON_TYPE }),
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  const execution = createExecutionContext();
  const response = await app.fetch(request, counting, execution);
  await waitOnExecutionContext(execution);
  await response.arrayBuffer();
  return { status: response.status, trips, objectCalls, subscriberCalls, r2Calls };
}
