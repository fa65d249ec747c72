/** Members who write as fast as they are answered, while their service is killed again and again. */
import fc from "fast-check";
import { expect } from "vitest";
import type { Client } from "../realtime/convergence/client.ts";
import { Convergence } from "../realtime/convergence/convergence.ts";
import { type Asking, type Showing, undisturbed } from "../realtime/convergence/steps.ts";
import type { KillMoment, NetworkWorld } from "./network-room.ts";

export const MEMBERS = 5;
export const KILLS_A_TALE = 5;
/** Requests of one member that are under way at once. */
const REQUESTS_UNDER_WAY = 4;
/** Few enough for one socket's allowance of messages, and for a newcomer to be told of all changes at once. */
const MAX_FRAMES = 1_500;

/** About as long as the service takes for all that is under way. */
const MAX_LATE_US = 5_000;

type Work = readonly (Asking | Showing)[];

export interface KillTale {
  /** What each member does, over and over. */
  readonly works: readonly Work[];
  /** When each kill comes, counted from the service's start. */
  readonly kills: readonly KillMoment[];
}

/** What there was to lose. */
export interface Toll {
  readonly acknowledged: number;
  /** Requests without an answer when their senders came back, and those of them that had been done. */
  readonly open: number;
  readonly done: number;
}

const work = fc
  .array(undisturbed, { minLength: 200, maxLength: 200 })
  .filter((steps) => steps.some(({ type }) => type !== "show"));

const killMoment: fc.Arbitrary<KillMoment> = fc.record({
  frames: fc.noBias(fc.integer({ min: 1, max: MAX_FRAMES })),
  lateMs: fc.noBias(fc.integer({ min: 0, max: MAX_LATE_US })).map((lateUs) => lateUs / 1_000),
});

export const killTale: fc.Arbitrary<KillTale> = fc.record({
  works: fc.array(work, { minLength: MEMBERS, maxLength: MEMBERS }),
  kills: fc.array(killMoment, { minLength: KILLS_A_TALE, maxLength: KILLS_A_TALE }),
});

export async function tellOfKills(world: NetworkWorld, { works, kills }: KillTale): Promise<Toll> {
  const convergence = new Convergence(world);
  const { clients } = convergence;
  for (const [who, client] of clients.entries()) {
    client.onAnswer = workOff(convergence, client, who, works[who] ?? []);
  }
  for (const moment of kills) {
    const crashed = world.crashAt(moment);
    await Promise.all([convergence.crash(crashed), ...clients.map((client) => begin(convergence, client))]);
  }
  for (const client of clients) client.onAnswer = () => {};

  // Nobody is there, and the figures say so, before anybody comes back.
  expect((await world.overview()).participants).toBe(0);
  await world.copied(0);
  for (const client of clients.slice(1)) await convergence.join(client);
  await convergence.finish();
  await world.copied(clients.length);
  return tollOf(clients);
}

async function begin(convergence: Convergence, client: Client): Promise<void> {
  await convergence.join(client);
  while (client.pending.size < REQUESTS_UNDER_WAY) client.onAnswer();
}

/** Gives what makes the next request, after whatever is shown before it. */
function workOff(convergence: Convergence, client: Client, who: number, steps: Work): () => void {
  let next = 0;
  return () => {
    for (let hasAsked = false; !hasAsked; next += 1) {
      const step = steps[next % steps.length];
      if (step?.type === "show") convergence.show(client, step.value);
      else if (step !== undefined) convergence.ask({ ...step, who });
      hasAsked = step?.type !== "show";
    }
  };
}

const tollOf = (clients: readonly Client[]): Toll => {
  const sum = (count: (client: Client) => number) =>
    clients.reduce((total, client) => total + count(client), 0);
  return {
    acknowledged: sum(({ answered }) => answered.size),
    open: sum(({ doubts }) => doubts.open),
    done: sum(({ doubts }) => doubts.done),
  };
};
