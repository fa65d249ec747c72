/** The port to an organization's event log: what was recorded, kept in the order of each room for some time. */

import type { ArchivedObject } from "../../../platform/archive/object-archive.ts";
import type { WebhookEventName } from "../../../wire/event-name.ts";
import type { OutgoingEvent } from "../../port/delivery-record.ts";
import type { RoomSubscription } from "../../port/subscription.ts";
import type { HourlyCounts, RunCounts } from "./hourly-counts.ts";

/** An event in a shard of the log. Times are epoch milliseconds. */
export type LoggedEvent = OutgoingEvent & {
  /** Counts the shard's events without a gap, so that it orders those of a room. */
  readonly seq: number;
  /** When the log received it; never less than that of the event before it. */
  readonly loggedAt: number;
};

/** Which events of a shard to read. */
export type LogQuery = {
  /** Only what follows this number; null to start at `from`. */
  readonly after: number | null;
  /** Without `after`: only what was logged at or after this time (epoch ms); null for all that is kept. */
  readonly from: number | null;
  /** Only what was logged up to this time (epoch ms); null for all. */
  readonly until: number | null;
  /** Only events of this room; null for every room's. */
  readonly roomId: string | null;
  /** Only these events; null for all. */
  readonly names: readonly WebhookEventName[] | null;
  /** The most events to return. */
  readonly limit: number;
};

/** What a read returned. It is bounded in rows and bytes, and may have fewer events than there are. */
export type LogSlice =
  | {
      readonly type: "slice";
      readonly events: LoggedEvent[];
      /** Everything up to this number was looked at: no later event ever takes a lower one. */
      readonly position: number;
      /** True when nothing follows `position` yet. */
      readonly isAtEnd: boolean;
    }
  /** Events that follow `after` are no longer kept; the oldest that are were logged at `oldestAt`. */
  | { readonly type: "pruned"; readonly oldestAt: number | null };

/** What the service asks of the log of an organization. */
export interface EventLogGateway {
  /** Appends events of a room, each event id once. They are on disk when this resolves. */
  append(accountId: string, roomId: string, events: readonly OutgoingEvent[]): Promise<void>;
  /** The same, and returns who subscribes to the room's events. */
  publish(
    accountId: string,
    roomId: string,
    events: readonly OutgoingEvent[],
  ): Promise<readonly RoomSubscription[]>;
  /** Who subscribes to the room's events. */
  subscriptions(accountId: string, roomId: string): Promise<readonly RoomSubscription[]>;
  /** Resolves when every shard knows that what it has read of the organization's subscribers is out of date. */
  subscriptionsChanged(accountId: string): Promise<void>;
  /** Counts runs of a workflow that have ended just now. */
  countRuns(accountId: string, workflowId: string, runs: RunCounts): Promise<void>;
  /**
   * What was logged, and which runs ended, in each span of `width` milliseconds from `from` (epoch ms) on; the earliest
   * first. Spans of less than an hour are known of the last hour, longer ones of 30 days.
   */
  hours(accountId: string, from: number, width: number): Promise<readonly HourlyCounts[]>;
  /** Removes what identifies a user of the room, and what they wrote, from all events that are kept. */
  eraseUser(accountId: string, roomId: string, userId: string): Promise<void>;
  /** Deletes the organization's log. */
  remove(accountId: string): Promise<void>;
  /** Reads from one of the organization's shards. */
  read(accountId: string, shard: number, query: LogQuery): Promise<LogSlice>;
  /** What each of the organization's shards stores, for a backup; the number of a shard is its place. */
  archived(accountId: string): readonly ArchivedObject[];
}
