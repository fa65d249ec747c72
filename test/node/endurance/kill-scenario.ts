/** Users write as fast as their requests are answered, while the service is killed again and again. */
import fc from "fast-check";
import { expect } from "vitest";
import type { Client } from "../../room/convergence/client.ts";
import { Convergence } from "../../room/convergence/convergence.ts";
import { losslessStep, type PresenceStep, type RequestStep } from "../../room/convergence/steps.ts";
import type { KillMoment, NetworkRoom } from "./network-room.ts";

export const MEMBERS = 5;
export const KILLS_PER_SCENARIO = 5;
/** The requests of one user that are pending at any time. */
const REQUESTS_UNDER_WAY = 4;
/** Few enough for a connection's rate limit, and for one catch-up message to hold all changes. */
const MAX_FRAMES = 1_500;

/** About as long as the service needs for all pending requests. */
const MAX_LATE_US = 5_000;

type Work = readonly (RequestStep | PresenceStep)[];

export interface KillScenario {
  /** Steps that each user repeats. */
  readonly works: readonly Work[];
  /** When the service is killed, counted from each of its starts. */
  readonly kills: readonly KillMoment[];
}

/** The requests that a kill could have lost. */
export interface Requests {
  readonly acknowledged: number;
  /** Requests without an answer when their senders reconnected, and how many of them had taken effect. */
  readonly open: number;
  readonly done: number;
}

const work = fc
  .array(losslessStep, { minLength: 200, maxLength: 200 })
  .filter((steps) => steps.some(({ type }) => type !== "show"));

const killMoment: fc.Arbitrary<KillMoment> = fc.record({
  frames: fc.noBias(fc.integer({ min: 1, max: MAX_FRAMES })),
  lateMs: fc.noBias(fc.integer({ min: 0, max: MAX_LATE_US })).map((lateUs) => lateUs / 1_000),
});

export const killScenario: fc.Arbitrary<KillScenario> = fc.record({
  works: fc.array(work, { minLength: MEMBERS, maxLength: MEMBERS }),
  kills: fc.array(killMoment, { minLength: KILLS_PER_SCENARIO, maxLength: KILLS_PER_SCENARIO }),
});

export async function runKillScenario(world: NetworkRoom, { works, kills }: KillScenario): Promise<Requests> {
  const convergence = new Convergence(world);
  const { clients } = convergence;
  for (const [who, client] of clients.entries()) {
    client.onAnswer = sendNext(convergence, client, who, works[who] ?? []);
  }
  for (const moment of kills) {
    const crashed = world.crashAt(moment);
    await Promise.all([convergence.crash(crashed), ...clients.map((client) => begin(convergence, client))]);
  }
  for (const client of clients) client.onAnswer = () => {};

  // No one is online, and the statistics say so, before the first user reconnects.
  expect((await world.overview()).participants).toBe(0);
  await world.copied(0);
  for (const client of clients.slice(1)) await convergence.join(client);
  await convergence.finish();
  await world.copied(clients.length);
  return requestsOf(clients);
}

async function begin(convergence: Convergence, client: Client): Promise<void> {
  await convergence.join(client);
  while (client.pending.size < REQUESTS_UNDER_WAY) client.onAnswer();
}

/** A function that sends the user's next request, and every presence update before it. */
function sendNext(convergence: Convergence, client: Client, who: number, steps: Work): () => void {
  let next = 0;
  return () => {
    for (let hasAsked = false; !hasAsked; next += 1) {
      const step = steps[next % steps.length];
      if (step?.type === "show") convergence.showPresence(client, step.value);
      else if (step !== undefined) convergence.request({ ...step, who });
      hasAsked = step?.type !== "show";
    }
  };
}

const requestsOf = (clients: readonly Client[]): Requests => {
  const sum = (count: (client: Client) => number) =>
    clients.reduce((total, client) => total + count(client), 0);
  return {
    acknowledged: sum(({ answered }) => answered.size),
    open: sum(({ unanswered }) => unanswered.open),
    done: sum(({ unanswered }) => unanswered.done),
  };
};
