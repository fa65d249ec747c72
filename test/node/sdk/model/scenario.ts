/** Scenarios of two clients in a room in memory: races, refusals, cuts, losses, reloads, downloads and backups. */
import { deepEqual, ok } from "node:assert/strict";
import fc from "fast-check";

import { sorted } from "../mirror.ts";
import { ModelClient, settle } from "./model-client.ts";
import { ModelRoom } from "./model-room.ts";

type Who = 0 | 1;
const who = fc.constantFrom<Who>(0, 1);
export const key = fc.constantFrom("a", "b", "c", "d", "e");
const record = <Fields>(model: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> }) =>
  fc.record(model, { noNullPrototype: true });
export const fields: fc.Arbitrary<{ x?: number; y?: number }> = fc.oneof(
  record({ x: fc.nat(2) }),
  record({ y: fc.nat(2) }),
  record({ x: fc.nat(2), y: fc.nat(2) }),
);
export const value = fc.oneof({ weight: 3, arbitrary: fields }, { weight: 1, arbitrary: fc.nat(2) });
const options = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: record({ ifVersion: fc.nat(4) }) },
);

const step = fc.oneof(
  fc.record({ type: fc.constant("set" as const), who, key, value, options }),
  fc.record({ type: fc.constant("update" as const), who, key, value: fields, options }),
  fc.record({ type: fc.constant("delete" as const), who, key, options }),
  fc.record({ type: fc.constant("organization" as const), key, value }),
  fc.record({ type: fc.constant("up" as const), who, count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ type: fc.constant("down" as const), who, count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ type: fc.constantFrom("cut" as const, "lose" as const, "sync" as const), who }),
  fc.record({
    type: fc.constantFrom("undo" as const, "redo" as const, "pause" as const, "resume" as const),
    who,
  }),
  fc.record({ type: fc.constantFrom("forget" as const, "backUp" as const, "restore" as const) }),
);
export type Step = typeof step extends fc.Arbitrary<infer Type> ? Type : never;

type Clients = readonly [ModelClient, ModelClient];

/** A room and its latest backup. */
interface World {
  readonly room: ModelRoom;
  restore: () => void;
}

function act(world: World, clients: Clients, each: Step): void {
  const { room } = world;
  if ("who" in each) actAs(clients[each.who], each);
  else if (each.type === "organization") room.write("notes", each.key, each.value);
  else if (each.type === "forget") room.forgetChanges();
  else if (each.type === "backUp") world.restore = room.backUp();
  else world.restore();
}

function actAs(client: ModelClient, each: Extract<Step, { readonly who: Who }>): void {
  const { socket } = client;
  switch (each.type) {
    case "set":
      client.set(each.key, each.value, each.options);
      break;
    case "update":
      client.update(each.key, each.value, each.options);
      break;
    case "delete":
      client.delete(each.key, each.options);
      break;
    case "sync":
      client.sync();
      break;
    case "undo":
    case "redo":
    case "pause":
    case "resume":
      client.client.history[each.type]();
      break;
    case "up":
      for (let left = each.count; left > 0; left -= 1) socket?.deliverUp();
      break;
    case "down":
      if (each.count > 2) client.deliverDownload();
      for (let left = each.count; left > 0; left -= 1) socket?.deliverDown();
      break;
    case "lose":
      socket?.loseChange();
      break;
    case "cut":
      socket?.cut();
      client.clock.advance(10_000);
  }
}

export const scenario = fc.array(step, { maxLength: 40 });

/** Runs a scenario. Throws unless each client's copy equals its store at any time, and the room's in the end. */
export async function run(steps: readonly Step[]): Promise<void> {
  const room = new ModelRoom();
  const world = { room, restore: room.backUp() };
  room.isRefused = (refused) => refused === 2;
  const clients = [new ModelClient(room, "ada"), new ModelClient(room, "bo")] as const;
  const finish = async () => {
    for (let round = 0; round < 4; round += 1) {
      for (const client of clients) {
        client.clock.advance(10_000); // reconnects
        await client.deliverAll();
      }
    }
  };
  // Enough for a download, in half of the scenarios.
  if (steps.length % 2 === 0) for (const each of ["a", "b", "c", "d"]) room.write("notes", each, 0);
  for (const client of clients) void client.client.join();
  await finish();
  clients[0].sync();
  for (const each of steps) {
    act(world, clients, each);
    await settle();
    for (const client of clients) ok(client.mirror.isTrue);
  }
  for (const client of clients) client.sync();
  await finish();
  room.write("notes", "last", 1); // reveals lost changes
  await finish();
  for (const client of clients) {
    ok(client.mirror.isTrue);
    deepEqual(sorted(client.store.getAll()), sorted(room.entries("notes")));
    client.client.disconnect();
    await Promise.all(client.outcomes);
  }
}
