/** Bindings that count: how often a request goes to D1, and how often it calls a room's object. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { app } from "../../src/app.ts";
import type { Env } from "../../src/env.ts";
import { type Account, ORIGIN } from "./api.ts";

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

/** The rooms' objects as they are, but for telling `onCall` of each call. */
const countingRooms = (rooms: Env["ROOMS"], onCall: () => void): Env["ROOMS"] =>
  new Proxy(rooms, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        if (name === "getByName" || name === "get") onCall();
        return Reflect.apply(member, target, args);
      };
    },
  });

export interface Cost {
  readonly status: number;
  /** D1 round trips, those that the answer does not wait for included. */
  readonly trips: number;
  readonly objectCalls: number;
}

/** What one request of the organization costs. */
export async function costOf(owner: Account, method: string, path: string, body?: unknown): Promise<Cost> {
  let trips = 0;
  let objectCalls = 0;
  const counting: Env = {
    ...env,
    DB: countingD1(env.DB, () => {
      trips += 1;
    }),
    ROOMS: countingRooms(env.ROOMS, () => {
      objectCalls += 1;
    }),
  };
  const headers = { Authorization: owner.api.authorization ?? "", "Content-Type": "application/json" };
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  const execution = createExecutionContext();
  const response = await app.fetch(
    new Request(`${ORIGIN}${owner.api.base}${path}`, init),
    counting,
    execution,
  );
  await waitOnExecutionContext(execution);
  return { status: response.status, trips, objectCalls };
}
