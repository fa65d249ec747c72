/** The RPC interface of the objects that keep the log. It is the one file of the port that knows the Workers runtime. */

import type { ArchiveRpc } from "../../../platform/archive/object-archive.ts";
import type { OutgoingEvent } from "../../port/delivery-record.ts";
import type { RoomSubscription } from "../../port/subscription.ts";
import type { LogQuery, LogSlice } from "./event-log-port.ts";
import type { HourlyCounts, RunCounts } from "./hourly-counts.ts";

/** The RPC methods of a shard, which do what `EventLogGateway` describes. */
export interface EventLogRpc extends Rpc.DurableObjectBranded, ArchiveRpc {
  append(events: readonly OutgoingEvent[]): void;
  publish(
    accountId: string,
    roomId: string,
    events: readonly OutgoingEvent[],
  ): RoomSubscription[] | Promise<RoomSubscription[]>;
  subscriptions(accountId: string, roomId: string): RoomSubscription[] | Promise<RoomSubscription[]>;
  subscriptionsChanged(): void;
  countRuns(runs: RunCounts): void;
  hours(from: number, width: number): HourlyCounts[];
  /** Does so in some of the events after one, and returns the last of these; null at the end. */
  eraseUser(roomId: string, userId: string, after: number): number | null | Promise<number | null>;
  remove(): Promise<void>;
  read(query: LogQuery): LogSlice;
}
