/** R6 to R81 and D1 to D19 as properties: whatever clients send, the room stays whole, and no one else is affected. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { inject, it } from "vitest";
import { SqliteStorage } from "../../../src/room/storage/storage.ts";
import type { Runs } from "../../node/endurance/runs.ts";
import { copyStored } from "./backup.ts";
import { FuzzedObject } from "./fuzzed-object.ts";
import { FuzzedRoom } from "./fuzzed-room.ts";
import { live } from "./fuzzer.ts";
import { life, realLife } from "./steps.ts";

const { seed, protocol }: Runs = inject("endurance");
const inObjects = Math.ceil(protocol / 10);
/** Timeouts for starting, and for each run on a busy machine. */
const [START_MS, RUN_MS, OBJECT_MS] = [30_000, 1_000, 20_000];

console.log(`Protocol: ${protocol} lives of a room and ${inObjects} of its object, with seed ${seed}`);

it(
  "whatever clients send, those who behave well see everything, once, and stay (R6 to R82, D1 to D19)",
  async () => {
    const property = fc.asyncProperty(life, (steps) =>
      runInDurableObject(env.ROOMS.getByName(crypto.randomUUID()), (_, { storage }) =>
        live(
          new FuzzedRoom(() => new SqliteStorage(storage), { copyStored: () => copyStored(storage) }),
          steps,
        ),
      ),
    );
    await fc.assert(property, { seed, numRuns: protocol });
  },
  START_MS + protocol * RUN_MS,
);

it(
  "the object itself, with real sockets, its database and its alarms: the same holds (R6 to R82, D1 to D19)",
  async () => {
    const property = fc.asyncProperty(realLife, async (steps) => live(await FuzzedObject.create(), steps));
    // Shorter lives would take minutes to find: the life that fails is shown as it was.
    await fc.assert(property, { seed, numRuns: inObjects, endOnFailure: true });
  },
  START_MS + inObjects * OBJECT_MS,
);
