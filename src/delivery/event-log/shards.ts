/** The shards of an organization's event log, and operations on all of them. */

import { fnv1a } from "@atrium/contract/fnv1a.ts";
import type { Env } from "../../env.ts";
import { openStub, type Stub } from "../../platform/objects/rpc.ts";
import type { Settings } from "../../platform/settings.ts";
import type { EventLogObject } from "./event-log-object.ts";
import type { HourlyCounts, Span } from "./event-log-store.ts";

/**
 * The shards of an organization's log. Fixed, because a room must stay in its shard: another number is another log,
 * which the version in cursors would tell apart.
 */
export const SHARDS = 8;

/** The shard of a room. For an event without a room, the ID of its subject takes the room's place. */
export const shardOf = (roomId: string): number => fnv1a(roomId) % SHARDS;

export type EventLogs = (accountId: string, shard: number) => Stub<EventLogObject>;

export const openEventLogs =
  (env: Pick<Env, "EVENT_LOGS"> & Settings): EventLogs =>
  (accountId, shard) =>
    openStub(env, env.EVENT_LOGS, `${accountId}:${shard}`);

const allShards = (logs: EventLogs, accountId: string): Stub<EventLogObject>[] =>
  Array.from({ length: SHARDS }, (_, shard) => logs(accountId, shard));

/** Resolves when every shard knows that its copy of the organization's subscriptions is out of date. */
export async function invalidateSubscriptions(logs: EventLogs, accountId: string): Promise<void> {
  await Promise.all(allShards(logs, accountId).map((shard) => shard.subscriptionsChanged()));
}

/**
 * The logged events and ended runs of 30 days in each span of `width` milliseconds from `from` (epoch ms) on, the
 * earliest first. A time before `from` is one span.
 */
export async function readHours(
  logs: EventLogs,
  accountId: string,
  from: number,
  width: number,
  before?: Span,
): Promise<readonly HourlyCounts[]> {
  const shards = allShards(logs, accountId);
  const earlier = before === undefined ? [] : ([before] as const);
  return addHours(await Promise.all(shards.map((shard) => shard.hours(from, width, ...earlier))));
}

/**
 * Removes everything from the organization's log that identifies a user of the room, or that the user wrote. An identity
 * stands for its room and its user.
 */
export async function eraseFromLog(
  logs: EventLogs,
  accountId: string,
  roomId: string,
  userId: string,
): Promise<void> {
  const shard = logs(accountId, shardOf(roomId));
  for (let after: number | null = 0; after !== null; ) after = await shard.eraseUser(roomId, userId, after);
}

export async function removeLog(logs: EventLogs, accountId: string): Promise<void> {
  await Promise.all(allShards(logs, accountId).map((shard) => shard.remove()));
}

function addHours(shards: readonly (readonly HourlyCounts[])[]): HourlyCounts[] {
  const sums = new Map<number, HourlyCounts>();
  for (const { hour, events, runs, failedRuns } of shards.flat()) {
    const sum = sums.get(hour) ?? { hour, events: 0, runs: 0, failedRuns: 0 };
    sums.set(hour, {
      hour,
      events: sum.events + events,
      runs: sum.runs + runs,
      failedRuns: sum.failedRuns + failedRuns,
    });
  }
  return [...sums.values()].sort((one, other) => one.hour - other.hour);
}
