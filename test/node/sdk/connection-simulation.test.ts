/**
 * Clients and hooks over tokens, sockets and clocks that fail: once these work again, everyone shows the room's
 * state.
 */
import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { inject, it, onTestFinished, vi } from "vitest";
import { eventually } from "../cli/processes.ts";
import { sorted } from "./mirror.ts";
import { ModelRoom, type Refusal } from "./model/model-room.ts";
import { type BackEnd, claimsOf, UnsteadyClient } from "./model/unsteady-client.ts";

const who = fc.constantFrom(0, 1, 2);
const PAGE_EVENTS = ["online", "offline", "pageshow", "visibilitychange", "pagehide"] as const;
const BACK_ENDS = ["well", "throws", "hangs", "garbage", "null", "forged", "expired"] as const;
const REFUSALS = ["none", "RATE_LIMITED", "INTERNAL_ERROR", "UNAUTHORIZED", "FORBIDDEN"] as const;

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant("write" as const), who, key: fc.nat(3) }) },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant("pass" as const), seconds: fc.constantFrom(1, 3, 8, 20, 60) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant("backEnd" as const), who, to: fc.constantFrom(...BACK_ENDS) }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom("cut" as const, "silence" as const), who }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("network" as const), who, isOffline: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("page" as const), who, event: fc.constantFrom(...PAGE_EVENTS) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constantFrom(
        "join" as const,
        "leave" as const,
        "disconnect" as const,
        "mount" as const,
        "unmount" as const,
        "retry" as const,
      ),
      who,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("refuse" as const), joins: fc.constantFrom(...REFUSALS) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("limit" as const), reads: fc.boolean() }) },
);
type Step = typeof step extends fc.Arbitrary<infer Type> ? Type : never;

const refusal = (code: string): Refusal => ({ code, module: "Rooms", message: code });

class ConnectionSimulation {
  readonly room = new ModelRoom();
  /** Two tabs of a person, and another one. */
  readonly clients: UnsteadyClient[];
  refuses: (typeof REFUSALS)[number] = "none";
  isLimiting = false;
  #count = 0;

  constructor() {
    this.clients = ["ada", "ada", "bo"].map((userId) => new UnsteadyClient(this.room, userId));
    this.room.refusalOf = (type, data) => {
      if (type === "STORE_SYNC") return this.isLimiting ? refusal("RATE_LIMITED") : null;
      if (type !== "JOIN_ROOM" && type !== "TOKEN_REFRESH") return null;
      if (type === "JOIN_ROOM" && this.refuses !== "none") return refusal(this.refuses);
      const { exp, isForged } = claimsOf(data.token);
      return isForged || exp <= (this.clients[0]?.now ?? 0) ? refusal("UNAUTHORIZED") : null;
    };
  }

  async act(each: Step): Promise<void> {
    if (each.type === "pass") return this.pass(each.seconds);
    if (each.type === "refuse") this.refuses = each.joins;
    else if (each.type === "limit") this.isLimiting = each.reads;
    else this.#actAs(this.clients[each.who] as UnsteadyClient, each);
  }

  #actAs(unsteady: UnsteadyClient, each: Extract<Step, { readonly who: number }>): void {
    const { client, handle } = unsteady;
    const ignore = (promise: Promise<unknown>) => unsteady.outcomes.push(promise.catch(() => {}));
    switch (each.type) {
      case "write":
        this.#count += 1;
        unsteady.write(`${each.key}`, `${each.who} ${this.#count}`);
        break;
      case "backEnd":
        unsteady.backEnd = each.to satisfies BackEnd;
        break;
      case "cut":
      case "silence":
        unsteady[each.type]();
        break;
      case "network":
        unsteady.isOffline = each.isOffline;
        if (each.isOffline) unsteady.cut();
        break;
      case "page":
        unsteady.clock.page.dispatchEvent(Object.assign(new Event(each.event), { persisted: true }));
        break;
      case "join":
        ignore(client.join());
        break;
      case "leave":
        ignore(client.leave());
        break;
      case "disconnect":
        client.disconnect();
        break;
      case "mount":
        unsteady.release ??= handle.enter();
        break;
      case "unmount":
        unsteady.release?.();
        unsteady.release = null;
        break;
      case "retry":
        handle.connection.read().retry();
    }
  }

  async pass(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed += 1)
      for (const unsteady of this.clients) await unsteady.pass(1);
    for (const { openSockets, client } of this.clients) {
      ok(openSockets.length <= 1, "one connection for each client");
      const { status, error, retryAt, attempt } = client.socket.status;
      if (status === "connected") deepEqual([error, attempt], [null, 0]);
      if (status === "closed" || status === "idle") deepEqual([retryAt, attempt], [null, 0]);
    }
  }

  /** Everything is well from now on. */
  heal(): void {
    this.refuses = "none";
    this.isLimiting = false;
    for (const unsteady of this.clients) {
      unsteady.backEnd = "well";
      unsteady.isOffline = false;
    }
  }
}

async function run(steps: readonly Step[]): Promise<void> {
  const world = new ConnectionSimulation();
  for (const each of steps) await world.act(each);
  world.heal();
  const stores = world.clients.map(({ handle }) => handle.store("notes").source);
  const watched = stores.map((source) => source.subscribe(() => {}));
  for (const unsteady of world.clients) {
    unsteady.release ??= unsteady.handle.enter();
    // An application that has left, or was refused, joins again.
    unsteady.outcomes.push(unsteady.client.join().catch(() => {}));
  }
  await world.pass(60);
  for (const { client } of world.clients) if (client.socket.state === "closed") void client.join();
  // The module and the parts of a download take turns of their own.
  await eventually("all to be up to date", async () => {
    await world.pass(1);
    return world.clients.every(isUpToDate);
  });
  const expected = sorted(world.room.entries("notes"));
  for (const [index, { client, handle, openSockets }] of world.clients.entries()) {
    deepEqual([client.socket.state, handle.connection.read().status], ["connected", "connected"]);
    deepEqual(
      [client.socket.status.error, handle.connection.read().error, openSockets.length],
      [null, null, 1],
    );
    deepEqual(sorted({ ...stores[index]?.read() }), expected);
    equal(client.hasUnsyncedChanges, false);
  }
  // Acknowledged writes are there, unless a later write of the same client and key replaced one before it was
  // sent.
  for (const { acknowledged } of world.clients)
    for (const each of acknowledged)
      ok(
        world.room.applied.some(({ key, value }) => isAtLeast({ key, value }, each)),
        `${each.key} ${each.value}`,
      );
  for (const stop of watched) stop();
  for (const { client, release, outcomes } of world.clients) {
    release?.();
    client.disconnect();
    await Promise.all(outcomes);
  }
  await world.pass(10);
  for (const { clock, openSockets } of world.clients) deepEqual([clock.waiting, openSockets.length], [0, 0]);
}

const isUpToDate = ({ client }: UnsteadyClient): boolean =>
  client.socket.state === "connected" &&
  client.store("notes").state === "synced" &&
  !client.hasUnsyncedChanges;

interface Written {
  readonly key: unknown;
  readonly value: unknown;
}

function isAtLeast(later: Written, written: Written): boolean {
  const [[by, number], [writer, count]] = [later, written].map(({ value }) => String(value).split(" ")) as [
    string[],
    string[],
  ];
  return later.key === written.key && by === writer && Number(number) >= Number(count);
}

const { seed, connections } = inject("endurance");

it(
  "whatever fails, clients and hooks show what the room has once nothing fails any more, over one connection each",
  async () => {
    vi.stubGlobal("document", { visibilityState: "visible" });
    onTestFinished(() => void vi.unstubAllGlobals());
    const scenario = fc.array(step, { maxLength: 30 });
    // Shrinking repeats waits until a deadline, and would outlast this test without naming the seed.
    await fc.assert(fc.asyncProperty(scenario, run), { seed, numRuns: connections, endOnFailure: true });
  },
  Math.max(120_000, connections * 2_000),
);
