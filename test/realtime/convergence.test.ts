/** R32 to R35, R49, R50 and R52 as properties: whatever is lost on the way, everybody comes to the same. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { RoomStorage } from "../../src/realtime/storage.ts";
import { MemoryStorage } from "../../src/realtime/storage-memory.ts";
import { SqliteStorage } from "../../src/realtime/storage-sqlite.ts";
import { Convergence, type Loss, type Step } from "./convergence.ts";

const who = fc.nat(7);
const lost = fc.constantFrom<Loss>("nothing", "nothing", "nothing", "request", "answer");
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("join" as const), who }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constantFrom("vanish", "resend"), who }) },
  {
    weight: 8,
    arbitrary: fc.record({ type: fc.constantFrom("set", "merge", "remove"), who, key: fc.nat(3), lost }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constantFrom("batch", "comment", "react"), who, lost }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constantFrom("follow", "unfollow"), who, whom: fc.nat(7), lost }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ type: fc.constant("show" as const), who, value: fc.option(fc.nat(9)) }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom("flush", "hibernate") }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("crash" as const) }) },
);
const tale = fc.tuple(fc.integer({ min: 2, max: 8 }), fc.array(step, { maxLength: 80, size: "max" }));

function tell(storage: () => RoomStorage, [clients, steps]: [number, Step[]]): void {
  const simulation = new Convergence(storage, clients);
  for (const each of steps) simulation.run(each);
  simulation.finish();
}

it("in memory: one sequence for all, nothing lost, nothing twice, presence as it is (R32 to R35, R49, R50, R52)", () => {
  fc.assert(
    fc.property(tale, (each) => {
      const storage = new MemoryStorage();
      tell(() => storage, each);
    }),
    { numRuns: 400 },
  );
});

it("in SQLite, opened anew whenever the room starts: the same (R32 to R35, R49, R50, R52)", async () => {
  await fc.assert(
    fc.asyncProperty(tale, (each) =>
      runInDurableObject(env.ROOMS.getByName(crypto.randomUUID()), (_, state) =>
        tell(() => new SqliteStorage(state.storage), each),
      ),
    ),
    { numRuns: 100 },
  );
});

it("the last 10,000 changes are kept, and those of 24 hours (R33)", async () => {
  const { Changes } = await import("../../src/realtime/changes.ts");
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
