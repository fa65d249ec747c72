/** The only way to the objects of an organization's log: turns a room or a shard into its stub. */
import type { Env } from "../../../env.ts";
import { archivedObject } from "../../../platform/archive/archived-object.ts";
import type { EventLogGateway } from "../port/event-log-port.ts";
import { addHours } from "../port/hourly-counts.ts";
import { SHARDS, shardOf } from "./shard-of.ts";

export function eventLogGateway(env: Pick<Env, "EVENT_LOGS">): EventLogGateway {
  const stub = (accountId: string, shard: number) => env.EVENT_LOGS.getByName(`${accountId}:${shard}`);
  const shards = Array.from({ length: SHARDS }, (_, shard) => shard);
  return {
    publish: async (accountId, roomId, events) =>
      stub(accountId, shardOf(roomId)).publish(accountId, roomId, events),
    subscriptions: async (accountId, roomId) =>
      stub(accountId, shardOf(roomId)).subscriptions(accountId, roomId),
    subscriptionsChanged: async (accountId) => {
      await Promise.all(shards.map((shard) => stub(accountId, shard).subscriptionsChanged()));
    },
    countRuns: async (accountId, workflowId, runs) => stub(accountId, shardOf(workflowId)).countRuns(runs),
    hours: async (accountId, from, width) =>
      addHours(await Promise.all(shards.map((shard) => stub(accountId, shard).hours(from, width)))),
    append: async (accountId, roomId, events) => stub(accountId, shardOf(roomId)).append(events),
    eraseUser: async (accountId, roomId, userId) => {
      const shard = stub(accountId, shardOf(roomId));
      for (let after: number | null = 0; after !== null; )
        after = await shard.eraseUser(roomId, userId, after);
    },
    remove: async (accountId) => {
      await Promise.all(shards.map((shard) => stub(accountId, shard).remove()));
    },
    read: async (accountId, shard, query) => stub(accountId, shard).read(query),
    archived: (accountId) => shards.map((shard) => archivedObject("Events", () => stub(accountId, shard))),
  };
}
