/** Counts a subscriber's attempts in its own database: by the minute for a day, and by the hour for a month. */
import { parseStored } from "@atrium/contract/stored.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "@atrium/contract/time.ts";
import type {
  AttemptMetrics,
  FailingStreak,
  LoggedAttempt,
  StatsRange,
  SubscriberStats,
} from "./delivery.ts";
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

/** Deliveries that are counted together. Until then, their attempts are read from their logs. */
const COUNTED_TOGETHER = 16;

interface Attempt {
  readonly hasSucceeded: boolean;
  readonly durationMs: number;
}

/** Counts ended attempts, and the backlog at that time. */
export function recordAttempts(store: DeliveryStore, outcomes: readonly FinalOutcome[], now: number): void {
  const attempts = outcomes.flatMap(({ type, attempt }) =>
    attempt === null ? [] : [{ hasSucceeded: type === "delivered", durationMs: attempt.duration_ms }],
  );
  if (attempts.length > 0) addAttempts(store, attempts, now, now);
}

const STREAK = "failing";
const MAX_ERROR_LENGTH = 500;

const readStreak = (store: DeliveryStore): FailingStreak | null => parseStreak(store.readFact(STREAK));

const parseStreak = (json: string | null): FailingStreak | null =>
  json === null ? null : parseStored<FailingStreak>(json, {});

/** Keeps since when all attempts fail, and the latest error. Writes only what has changed. */
export function recordStreak(store: DeliveryStore, outcomes: readonly FinalOutcome[], now: number): void {
  const before = readStreak(store);
  const after = outcomes.reduce((streak, outcome) => continueStreak(streak, outcome, now), before);
  if (after?.since !== before?.since || after?.error !== before?.error)
    store.writeFact(STREAK, after && JSON.stringify(after));
}

function continueStreak(streak: FailingStreak | null, outcome: FinalOutcome, now: number) {
  if (outcome.type === "delivered") return null;
  const at = outcome.attempt === null ? now : Date.parse(outcome.attempt.attempted_at);
  const error = (outcome.error ?? "").split("\n", 1)[0] ?? "";
  return { since: streak?.since ?? at, error: error.slice(0, MAX_ERROR_LENGTH) };
}

const FORGOTTEN = "The delivery with its error is no longer kept";

/** Removes the latest error, which may quote an event, once no delivery is kept that could have it. */
export function forgetError(store: DeliveryStore): void {
  if (store.oldestAt("failed") !== null || store.oldestAt("pending") !== null) return;
  const streak = readStreak(store);
  if (streak !== null && streak.error !== FORGOTTEN)
    store.writeFact(STREAK, JSON.stringify({ ...streak, error: FORGOTTEN }));
}

/** Counts the deliveries so far, with their attempts, once they are `many`; within a transaction. */
export function countDeliveries(store: DeliveryStore, now: number, many = COUNTED_TOGETHER): void {
  const upTo = store.countableSeq;
  if (upTo - store.countedSeq < many) return;
  for (const [at, attempts] of uncountedAttempts(store, MINUTE_MS, upTo))
    addAttempts(store, attempts, at, now);
  store.countAll();
}

function addAttempts(store: DeliveryStore, attempts: readonly Attempt[], time: number, now: number): void {
  const waiting = store.total("pending").deliveries;
  for (const { width, keptMs } of ROWS) {
    if (time < now - keptMs) continue;
    const at = time - (time % width);
    const isNow = at === now - (now % width);
    const known = store.first<Row>(`SELECT ${FIELDS} FROM stats WHERE width = ? AND at = ?`, width, at);
    const added = rowOf(at, attempts, isNow ? waiting : 0);
    store.write(
      "INSERT OR REPLACE INTO stats VALUES (?, ?, ?, ?, ?, ?)",
      ...[width, at, (known?.succeeded ?? 0) + added.succeeded, (known?.failed ?? 0) + added.failed],
      Math.max(known?.waiting ?? 0, added.waiting),
      JSON.stringify(mergeLatencies([known ?? EMPTY, added].map((row) => parseLatencies(row.latencies)))),
    );
    if (known === null) store.write("DELETE FROM stats WHERE width = ? AND at < ?", width, now - keptMs);
  }
}

const EMPTY: Row = { at: 0, succeeded: 0, failed: 0, waiting: 0, latencies: "{}" };

function rowOf(at: number, attempts: readonly Attempt[], waiting: number): Row {
  const succeeded = attempts.filter(({ hasSucceeded }) => hasSucceeded).length;
  const latencies = countDurations(attempts.map(({ durationMs }) => durationMs));
  const failed = attempts.length - succeeded;
  return { at, succeeded, failed, waiting, latencies: JSON.stringify(latencies) };
}

/** The attempts of deliveries that are not counted yet, by the beginning of the span in which they ended. */
function uncountedAttempts(
  store: DeliveryStore,
  width: number,
  upTo: number,
): ReadonlyMap<number, readonly Attempt[]> {
  const query = "SELECT status, log FROM deliveries WHERE seq > ? AND seq <= ?";
  const attempts = store
    .read<{ status: string; log: string }>(query, store.countedSeq, upTo)
    .flatMap(({ status, log }) =>
      parseAttempts(log).map(({ attempted_at, duration_ms: durationMs }, index, { length }) => {
        const hasSucceeded = status === "success" && index === length - 1;
        return { endedAt: Date.parse(attempted_at) + durationMs, hasSucceeded, durationMs };
      }),
    );
  return Map.groupBy(attempts, ({ endedAt }) => endedAt - (endedAt % width));
}

const parseAttempts = (log: string) => JSON.parse(log) as readonly LoggedAttempt[];

/** `pausedUntil` (epoch ms): no attempt starts before. */
export function readStats(
  store: DeliveryStore,
  range: StatsRange,
  now: number,
  pausedUntil = now,
): SubscriberStats {
  const { row, width, points } = LAYOUTS[range];
  const last = now - (now % width);
  const first = last - (points - 1) * width;
  const query = `SELECT ${FIELDS} FROM stats WHERE width = ? AND at >= ? ORDER BY at`;
  const waiting = store.total("pending");
  const attempts = uncountedAttempts(store, row, Number.MAX_SAFE_INTEGER);
  const uncounted = [...attempts].filter(([at]) => at >= first);
  const rows = [
    ...store.read<Row>(query, row, first),
    ...uncounted.map(([at, ended]) => rowOf(at, ended, at === now - (now % row) ? waiting.deliveries : 0)),
  ];
  const byPoint = Map.groupBy(rows, ({ at }) => at - (at % width));
  return {
    total: metricsOf(rows),
    points: Array.from({ length: points }, (_, index) => {
      const at = first + index * width;
      const ofPoint = byPoint.get(at) ?? [];
      return { at, ...metricsOf(ofPoint), waiting: Math.max(0, ...ofPoint.map(({ waiting }) => waiting)) };
    }),
    waiting: { ...waiting, oldestAt: store.oldestAt("pending") },
    failing: readFailing(store, Math.max(now, pausedUntil)),
    lastSuccessAt: store.lastSuccessAt(),
  };
}

function readFailing(store: DeliveryStore, earliest: number): SubscriberStats["failing"] {
  const streak = readStreak(store);
  if (streak === null) return null;
  const [retry] = store.retries(1);
  const dueAt = store.hasFirsts(1) ? earliest : (retry?.dueAt ?? null);
  return { ...streak, nextAt: dueAt === null ? null : Math.max(dueAt, earliest) };
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

function countDurations(durations: readonly number[]): Latencies {
  const counts: Record<string, number> = {};
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
