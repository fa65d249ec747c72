/** R66, R75 and R76: when a deploy breaks all sockets, everyone is back in time, and others hardly notice. */
import fc from "fast-check";
import { expect, inject, it } from "vitest";
import { reconnectDelayMs } from "../../../packages/sdk/client/connection/machine.ts";
import { FairLoader } from "../../../src/platform/flow/fair-queue.ts";
import { firstReadMs, JOIN_READS, joinsHeldMs } from "../../../src/room/engine/join/join-decision.ts";
import { randomOf } from "../../support/random.ts";

interface Deploy {
  readonly rooms: number;
  readonly clientsPerRoom: number;
  readonly graceMs: number;
  /** Requests of others, in a second. */
  readonly othersPerSecond: number;
  /** Time of the database for a room's first read, which shows whether the room has missed a change. */
  readonly currentMs: number;
  /** Time of the database for a read, and for each user that it returns. */
  readonly readMs: number;
  readonly userMs: number;
  /** A random number in [0, 1). */
  random(): number;
}

/** Times in milliseconds. */
interface Return {
  /** When the last client has joined, after the deploy. */
  readonly allJoinedMs: number;
  /** The clients that join later than the grace allows. */
  readonly late: number;
  readonly reads: number;
  /** Latency of the requests of others while clients come back. */
  readonly othersP95Ms: number;
}

/** One thread, first come, first served, as D1 has it; its clock is virtual. */
class ModelDatabase {
  readonly #due: { readonly at: number; readonly action: () => void }[] = [];
  now = 0;
  #freeAt = 0;

  at(time: number, action: () => void): void {
    let index = this.#due.length;
    while (index > 0 && (this.#due[index - 1]?.at ?? 0) <= time) index -= 1;
    this.#due.splice(index, 0, { at: time, action });
  }

  read(ms: number): Promise<void> {
    this.#freeAt = Math.max(this.now, this.#freeAt) + ms;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.at(this.#freeAt, resolve);
    return promise;
  }

  async run(): Promise<void> {
    for (let next = this.#due.pop(); next !== undefined; next = this.#due.pop()) {
      this.now = next.at;
      next.action();
      for (let turns = 0; turns < 8; turns += 1) await null; // runs the follow-up work in the queues
    }
  }
}

async function deploy(of: Deploy): Promise<Return> {
  const database = new ModelDatabase();
  let [allJoinedMs, late, reads, checked] = [0, 0, 0, 0];
  const others: number[] = [];
  const clients = of.rooms * of.clientsPerRoom;
  for (let room = 0; room < of.rooms; room += 1) {
    const joiners = new FairLoader<string>({
      read: async (userIds) => {
        reads += 1;
        await database.read(of.readMs + of.userMs * userIds.length);
        return (userId) => userId;
      },
      ...JOIN_READS,
    });
    const release = joiners.hold();
    const returned: string[] = [];
    let isHeld = true;
    let current: Promise<void> | null = null;
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    let firstAt = Number.POSITIVE_INFINITY;
    const joined = () => {
      allJoinedMs = Math.max(allJoinedMs, database.now);
      late += Number(database.now > of.graceMs);
    };
    const check = async (userId: string) => {
      await joiners.load(userId, () => true);
      checked += 1;
    };
    const come = async (userId: string) => {
      current ??= started.then(() => database.read(of.currentMs));
      await current;
      if (isHeld) returned.push(userId);
      else await check(userId);
      joined();
    };
    for (let client = 0; client < of.clientsPerRoom; client += 1) {
      const arrivesAt = reconnectDelayMs(1, "soon", of.random());
      firstAt = Math.min(firstAt, arrivesAt);
      database.at(arrivesAt, () => {
        void come(`user ${client}`);
      });
    }
    database.at(firstAt + firstReadMs(of.graceMs, of.random()), start);
    database.at(firstAt + joinsHeldMs(of.graceMs, of.random()), () => {
      isHeld = false;
      for (const userId of returned) void check(userId);
      release();
    });
  }
  const request = () => {
    if (checked === clients && clients > 0) return;
    if (clients === 0 && database.now > of.graceMs) return;
    const from = database.now;
    void database.read(of.readMs).then(() => others.push(database.now - from));
    database.at(from - Math.log(1 - of.random()) * (1000 / of.othersPerSecond), request);
  };
  database.at(0, request);
  await database.run();
  others.sort((one, other) => one - other);
  return { allJoinedMs, late, reads, othersP95Ms: others[Math.floor(others.length * 0.95)] ?? 0 };
}

const DATABASE = { othersPerSecond: 200, currentMs: 0.125, readMs: 0.5, userMs: 0.02 };
const GRACE_MS = 10_000;

/** The number of deploys of which the median is judged: a few hundred requests say little. */
const DEPLOYS = 7;
const MIDDLE = 3;

/** The generator draws each number below this one once before it repeats any, whatever the seed. */
const NUMBERS = 2 ** 32;

const { deploys } = inject("endurance");
const TYPICAL = [
  [1, 1_000, GRACE_MS],
  [20, 50, GRACE_MS],
  [200, 5, GRACE_MS],
] as const;
/** Further cases between these; `npm run dev -- endurance --deploys 1` runs them as well. */
const FURTHER = [
  [5_000, 2, 2 * GRACE_MS],
  [10, 1_000, GRACE_MS],
  [1_000, 10, GRACE_MS],
  [2_500, 4, GRACE_MS],
] as const;

it.each(deploys === 0 ? TYPICAL : [...TYPICAL, ...FURTHER])(
  "%i rooms with %i clients each are all back within 2 s of a deploy with a grace of %i ms, and the database reads their users once (R66, R76)",
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
          expect(allJoinedMs).toBeLessThan(2_000);
          expect(reads).toBeLessThan(rooms + clientsPerRoom / 2);
          slowdowns.push(othersP95Ms / usual.othersP95Ms);
        }
        expect(slowdowns.toSorted((one, other) => one - other)[MIDDLE]).toBeLessThan(2);
      }),
      { numRuns: Math.max(1, deploys) },
    );
  },
);
