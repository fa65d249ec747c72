/** R32 to R35, R49, R50 and R52 as properties: whatever is lost on the way, all clients converge. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { expect, inject, it } from "vitest";
import { Changes } from "../../../src/realtime/content/changes.ts";
import { MemoryStorage } from "../../../src/realtime/storage/storage-memory.ts";
import { SqliteStorage } from "../../../src/realtime/storage/storage-sqlite.ts";
import type { Runs } from "../../endurance/runs.ts";
import { runScenario } from "./convergence.ts";
import { SimulatedRoom } from "./simulated-room.ts";
import { scenario } from "./steps.ts";

const { seed, inMemory, inSqlite }: Runs = inject("endurance");
/** Timeouts for starting, and for each run on a busy machine. */
const [START_MS, RUN_MS] = [30_000, 200];

console.log(`Convergence: ${inMemory} runs in memory and ${inSqlite} in SQLite, with seed ${seed}`);

it(
  "in memory: all clients see one sequence, nothing is lost or repeated, presence is current (R32 to R35, R49, R50, R52)",
  async () => {
    const property = fc.asyncProperty(scenario, (each) => {
      const storage = new MemoryStorage();
      return runScenario(new SimulatedRoom(() => storage, each[0]), each);
    });
    await fc.assert(property, { seed, numRuns: inMemory });
  },
  START_MS + inMemory * RUN_MS,
);

it(
  "in SQLite, reopened whenever the room starts: the same holds (R32 to R35, R49, R50, R52)",
  async () => {
    const property = fc.asyncProperty(scenario, (each) =>
      runInDurableObject(env.ROOMS.getByName(crypto.randomUUID()), (_, state) =>
        runScenario(new SimulatedRoom(() => new SqliteStorage(state.storage), each[0]), each),
      ),
    );
    await fc.assert(property, { seed, numRuns: inSqlite });
  },
  START_MS + inSqlite * RUN_MS,
);

it("the last 10,000 changes of 24 hours are kept (R33)", () => {
  const storage = new MemoryStorage();
  let now = 0;
  const changes = new Changes(storage, () => now);
  for (let count = 0; count < 10_050; count += 1) changes.append("storeChanged", () => ({}));
  expect(storage.changes.oldest()?.seq).toBe(51);
  expect(changes.since(49)).toBeNull();
  expect(changes.since(50)).toHaveLength(10_000);
  now = 24 * 3_600_000 + 1;
  changes.append("storeChanged", () => ({}));
  expect(storage.changes.oldest()?.seq).toBe(10_051);
  expect(changes.since(10_050)).toHaveLength(1);
});
