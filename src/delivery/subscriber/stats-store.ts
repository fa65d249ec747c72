/** Counts a subscriber's attempts in its own database: by the minute for a day, and by the hour for a month. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from "@atrium/contract/time.ts";
import type { AttemptMetrics, StatsRange, SubscriberStats } from "./delivery.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import type { FinalOutcome } from "./handler.ts";

/** The rows that are written for each attempt, and for how long they are kept: some 2,200 rows at most. */
const ROWS = [
  { width: MINUTE_MS, keptMs: 25 * HOUR_MS },
  { width: HOUR_MS, keptMs: 31 * DAY_MS },
] as const;

interface Layout {
  readonly row: number;
  readonly width: number;
  readonly points: number;
}

const LAYOUTS: Readonly<Record<StatsRange, Layout>> = {
  "1h": { row: MINUTE_MS, width: MINUTE_MS, points: 60 },
  "24h": { row: MINUTE_MS, width: 15 * MINUTE_MS, points: 96 },
  "7d": { row: HOUR_MS, width: 2 * HOUR_MS, points: 84 },
  "30d": { row: HOUR_MS, width: 6 * HOUR_MS, points: 120 },
};

type Row = { at: number; succeeded: number; failed: number; waiting: number; latencies: string };

const FIELDS = "at, succeeded, failed, waiting, latencies";

/** Counts ended attempts, and the backlog at that time. */
export function recordAttempts(store: DeliveryStore, outcomes: readonly FinalOutcome[], now: number): void {
  const attempts = outcomes.flatMap(({ type, attempt }) => (attempt === null ? [] : [{ type, attempt }]));
  if (attempts.length === 0) return;
  const succeeded = attempts.filter(({ type }) => type === "delivered").length;
  const durations = attempts.map(({ attempt }) => attempt.duration_ms);
  const waiting = store.total("pending").deliveries;
  for (const { width, keptMs } of ROWS) {
    const at = now - (now % width);
    const known = store.first<Row>(`SELECT ${FIELDS} FROM stats WHERE width = ? AND at = ?`, width, at);
    const latencies = addDurations(parseLatencies(known?.latencies ?? "{}"), durations);
    store.write(
      "INSERT OR REPLACE INTO stats VALUES (?, ?, ?, ?, ?, ?)",
      ...[width, at, (known?.succeeded ?? 0) + succeeded],
      (known?.failed ?? 0) + attempts.length - succeeded,
      Math.max(known?.waiting ?? 0, waiting),
      JSON.stringify(latencies),
    );
    if (known === null) store.write("DELETE FROM stats WHERE width = ? AND at < ?", width, now - keptMs);
  }
}

export function readStats(store: DeliveryStore, range: StatsRange, now: number): SubscriberStats {
  const { row, width, points } = LAYOUTS[range];
  const last = now - (now % width);
  const first = last - (points - 1) * width;
  const query = `SELECT ${FIELDS} FROM stats WHERE width = ? AND at >= ? ORDER BY at`;
  const rows = store.read<Row>(query, row, first);
  const byPoint = Map.groupBy(rows, ({ at }) => at - (at % width));
  return {
    total: metricsOf(rows),
    points: Array.from({ length: points }, (_, index) => {
      const at = first + index * width;
      const ofPoint = byPoint.get(at) ?? [];
      return { at, ...metricsOf(ofPoint), waiting: Math.max(0, ...ofPoint.map(({ waiting }) => waiting)) };
    }),
    waiting: { ...store.total("pending"), oldestAt: store.oldestAt("pending") },
  };
}

function metricsOf(rows: readonly Row[]): AttemptMetrics {
  const latencies = mergeLatencies(rows.map((row) => parseLatencies(row.latencies)));
  return {
    succeeded: rows.reduce((sum, { succeeded }) => sum + succeeded, 0),
    failed: rows.reduce((sum, { failed }) => sum + failed, 0),
    p50: percentile(latencies, 0.5),
    p95: percentile(latencies, 0.95),
    p99: percentile(latencies, 0.99),
  };
}

const parseLatencies = (json: string): Latencies => JSON.parse(json) as Latencies;

/** The growth of bands, each on the one before: percentiles are at most a quarter too high. */
const GROWTH = 1.25;
/** The last band has everything above some 45 seconds. */
const MAX_BAND = 48;

/** The durations in each band, counted; empty bands are left out. */
type Latencies = Readonly<Record<string, number>>;

const bandOf = (ms: number): number =>
  ms <= 1 ? 0 : Math.min(MAX_BAND, Math.ceil(Math.log(ms) / Math.log(GROWTH)));

function addDurations(latencies: Latencies, durations: readonly number[]): Latencies {
  const counts: Record<string, number> = { ...latencies };
  for (const ms of durations) counts[bandOf(ms)] = (counts[bandOf(ms)] ?? 0) + 1;
  return counts;
}

function mergeLatencies(all: readonly Latencies[]): Latencies {
  const counts: Record<string, number> = {};
  for (const latencies of all) {
    for (const [band, count] of Object.entries(latencies)) counts[band] = (counts[band] ?? 0) + count;
  }
  return counts;
}

/** The duration that this share of all does not exceed, in whole milliseconds; null without any. */
function percentile(latencies: Latencies, share: number): number | null {
  const bands = Object.entries(latencies).sort(([a], [b]) => Number(a) - Number(b));
  const wanted = bands.reduce((sum, [, count]) => sum + count, 0) * share;
  let reached = 0;
  for (const [band, count] of bands) {
    reached += count;
    if (reached >= wanted) return Math.round(GROWTH ** Number(band));
  }
  return null;
}
