/** Reads of one shard of an event log. */
import type { WebhookEventName } from "../../wire/event-name.ts";
import type { OutgoingEvent } from "../port/delivery-record.ts";

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

/** The result of a read. It is bounded in rows and bytes, and may have fewer events than there are. */
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
