/** A burst of events: users created as fast as possible, and the arrival of their events at webhooks. */
import type { Arrival, Stage } from "./stage.ts";

/** Concurrent requests. */
const CONNECTIONS = 16;

export interface Burst {
  /** Events per second, from the first request to the last arrival. */
  readonly perSecond: number;
  /** Milliseconds from a user's request to its event's arrival. */
  readonly delaysMs: readonly number[];
}

/** Creates this many users across the rooms in turn; `listeners` webhooks receive each one. */
export async function burst(
  stage: Stage,
  { rooms, users, listeners }: { rooms: readonly string[]; users: number; listeners: number },
  stop: AbortSignal,
): Promise<Burst> {
  const arrived = stage.expectArrivals(users * listeners, stop);
  const startedAt = performance.now();
  const begunAt = await createUsers(stage, { rooms, users }, stop);
  const arrivals = await arrived;
  const lastAt = Math.max(...arrivals.map(({ at }) => at));
  const delay = ({ userId, at }: Arrival) => at - (begunAt.get(userId) ?? at);
  return {
    perSecond: (arrivals.length * 1000) / (lastAt - startedAt),
    delaysMs: arrivals.map(delay).sort((a, b) => a - b),
  };
}

/** Creates users as fast as possible; returns the time of each request by user ID. */
export async function createUsers(
  { origin, organization }: Pick<Stage, "origin" | "organization">,
  { rooms, users }: { rooms: readonly string[]; users: number },
  stop: AbortSignal,
): Promise<Map<string, number>> {
  const url = `${origin}/v1/accounts/${organization.accountId}/users`;
  const headers = { ...organization.headers, "Content-Type": "application/json" };
  const begunAt = new Map<string, number>();
  let next = 0;
  const create = async (): Promise<void> => {
    while (next < users) {
      const number = next;
      next += 1;
      const body = JSON.stringify({ name: `User ${number}`, roomId: rooms[number % rooms.length] });
      const at = performance.now();
      const response = await fetch(url, { method: "POST", headers, body, signal: stop });
      const { data } = (await response.json()) as { data: { user: { id: string } } };
      begunAt.set(data.user.id, at);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, create));
  return begunAt;
}

/** The percentile of sorted values at this share. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
