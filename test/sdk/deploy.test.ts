/** R66, R75 and R76: when a deploy breaks all sockets, everyone is back in time, and others hardly notice. */
import fc from "fast-check";
import { expect, inject, it } from "vitest";
import { randomOf } from "../support/random.ts";
import { deploy } from "./model/deploy.ts";

const DATABASE = { othersPerSecond: 200, readMs: 0.5, userMs: 0.02 };
const GRACE_MS = 10_000;

/** How others fare is judged by the middle one of so many: a few hundred requests say little. */
const DEPLOYS = 7;
const MIDDLE = 3;

/** The generator draws each number below this one once before it repeats any, whatever the seed. */
const NUMBERS = 2 ** 32;

const { deploys } = inject("endurance");
const TYPICAL = [
  [1, 1_000, GRACE_MS],
  [20, 50, GRACE_MS],
  [5_000, 2, 2 * GRACE_MS],
] as const;
/** Between these; `npm run endurance -- --deploys 1` runs them as well. */
const FURTHER = [
  [200, 5, GRACE_MS],
  [10, 1_000, GRACE_MS],
  [1_000, 10, GRACE_MS],
  [2_500, 4, GRACE_MS],
] as const;

it.each(deploys === 0 ? TYPICAL : [...TYPICAL, ...FURTHER])(
  "%i rooms with %i clients each are all back within the grace of %i ms, and the database reads each room once (R66, R76)",
  async (rooms, clientsPerRoom, graceMs) => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 30 }), async (seed) => {
        const draw = randomOf(seed);
        const random = () => draw(NUMBERS) / NUMBERS;
        const slowdowns: number[] = [];
        for (let time = 0; time < DEPLOYS; time += 1) {
          const usual = await deploy({ ...DATABASE, graceMs, rooms: 0, clientsPerRoom: 0, random });
          const deployed = { ...DATABASE, graceMs, rooms, clientsPerRoom, random };
          const { late, allJoinedMs, reads, othersP95Ms } = await deploy(deployed);
          expect(late).toBe(0);
          expect(allJoinedMs).toBeLessThan(graceMs);
          expect(reads).toBeLessThan(rooms + clientsPerRoom / 2);
          slowdowns.push(othersP95Ms / usual.othersP95Ms);
        }
        expect(slowdowns.toSorted((one, other) => one - other)[MIDDLE]).toBeLessThan(2);
      }),
      { numRuns: Math.max(1, deploys) },
    );
  },
);
