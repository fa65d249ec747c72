/** The figures of a subscriber over time, as its object counts them. */

/** The times that figures are read for. */
export type StatsRange = "1h" | "24h" | "7d" | "30d";

/** Attempts by their results, with their durations. */
export interface AttemptFigures {
  readonly succeeded: number;
  readonly failed: number;
  /** Milliseconds; null without an attempt. */
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

/** A part of the range. */
export interface StatsPoint extends AttemptFigures {
  /** When it begins (epoch ms). */
  readonly at: number;
  /** The most deliveries that waited, as far as attempts ended in it. */
  readonly waiting: number;
}

export interface SubscriberStats {
  readonly total: AttemptFigures;
  readonly points: StatsPoint[];
  /** The backlog now. */
  readonly waiting: { readonly deliveries: number; readonly bytes: number; readonly oldestAt: number | null };
}
