/** Replays: a span of the event log, or of a webhook's earlier deliveries, that is sent again. Pure. */
import type { EventName, WebhookEventName } from "../../wire/event-name.ts";

/** The events to send again. Times are epoch milliseconds. */
export interface ReplayRequest {
  /** Events that happened from this time on… */
  readonly from: number;
  /** …up to this time. */
  readonly to: number;
  /** Only events of kept deliveries with this status; null for all events in the log. */
  readonly status: "success" | "failed" | null;
  /** Only events of this room; null for every room's. */
  readonly roomId: string | null;
  /** Only these events. */
  readonly names: readonly (EventName | WebhookEventName)[];
}

/** A replay and how far it is. Times are epoch milliseconds. */
export interface ReplayRecord extends ReplayRequest {
  readonly id: string;
  /** The number of enqueued deliveries. */
  readonly deliveries: number;
  readonly startedAt: number;
  /** Null while it enqueues. */
  readonly endedAt: number | null;
  /** Why it ended early, for the customer; null when it did not. */
  readonly error: string | null;
}

const PREFIX = "replay";

/**
 * The lane of a room's events in a replay. It is not the room's own: the replay keeps the room's order, and holds up
 * none of the events that happen meanwhile.
 */
export const replayLane = (replayId: string, roomId: string): string => `${PREFIX} ${replayId} ${roomId}`;

/** The replay that a delivery in this lane belongs to; null for any other delivery. */
export function replayOfLane(lane: string): string | null {
  const [prefix, replayId] = lane.split(" ");
  return prefix === PREFIX && replayId !== undefined ? replayId : null;
}
