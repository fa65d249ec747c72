/** R6 to R68 as properties: whatever clients send, the room stays whole, and no one else is affected. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { inject, it } from "vitest";
import { MemoryStorage } from "../../../src/realtime/storage/storage-memory.ts";
import { SqliteStorage } from "../../../src/realtime/storage/storage-sqlite.ts";
import type { Runs } from "../../endurance/runs.ts";
import { FuzzedRoom } from "./fuzzed-room.ts";
import { live } from "./fuzzer.ts";
import { life } from "./steps.ts";

const { seed, protocol }: Runs = inject("endurance");
const inSqlite = Math.ceil(protocol / 4);
/** Timeouts for starting, and for each run on a busy machine. */
const [START_MS, RUN_MS] = [30_000, 1_000];

console.log(`Protocol: ${protocol} lives of a room in memory and ${inSqlite} in SQLite, with seed ${seed}`);

it(
  "in memory: whatever clients send, those who behave well see everything, once, and stay (R6 to R68)",
  async () => {
    const property = fc.asyncProperty(life, (steps) => {
      const storage = new MemoryStorage();
      return live(new FuzzedRoom(() => storage), steps);
    });
    await fc.assert(property, { seed, numRuns: protocol });
  },
  START_MS + protocol * RUN_MS,
);

it(
  "in SQLite, reopened whenever the room starts: the same holds (R6 to R68)",
  async () => {
    const property = fc.asyncProperty(life, (steps) =>
      runInDurableObject(env.ROOMS.getByName(crypto.randomUUID()), (_, state) =>
        live(new FuzzedRoom(() => new SqliteStorage(state.storage)), steps),
      ),
    );
    await fc.assert(property, { seed, numRuns: inSqlite });
  },
  START_MS + inSqlite * RUN_MS,
);
