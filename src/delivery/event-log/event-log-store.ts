/** The SQLite database of one shard of an event log, with its counts for charts. Empty until the first event. */

import { byteLength } from "@atrium/contract/text.ts";
import { DAY_MS, MINUTE_MS } from "@atrium/contract/time.ts";
import { FACTS, ObjectTables, RESTORED_SEQ, type Schema } from "../../platform/objects/object-tables.ts";
import type { OutgoingEvent } from "../outbox/subscription.ts";
import type { LoggedEvent, LogQuery, LogSlice } from "./log-page.ts";

/** Bytes of an event on disk besides its body, its places in the indexes included. */
const ROW_BYTES = 300;
const BYTES = `${ROW_BYTES} + length(CAST(body AS BLOB))`;
const PRUNED_AT_ONCE = 500;
/** Events that are counted together. */
const COUNTED_TOGETHER = 64;
/** Rows that one read looks at, and the characters of bodies after which it ends. */
const MAX_SCANNED = 5_000;
const MAX_SLICE_CHARS = 1024 * 1024;

/** The span that is counted. */
export const FINE_MS = 5 * MINUTE_MS;
/** Charts show 30 days, and compare them with the 30 before. Older counts are deleted. */
const COUNTS_KEPT_MS = 61 * DAY_MS;

/** The start of the span of `width` that contains `at`; all in milliseconds. */
export const spanOf = (at: number, width: number): number => at - (at % width);

export type RunCounts = {
  readonly runs: number;
  readonly failedRuns: number;
};

/** The activity of the hour, or of another span of time, that begins at `hour` (epoch ms). */
export type HourlyCounts = RunCounts & {
  readonly hour: number;
  readonly events: number;
};

/** A time span, from `from` (epoch ms) until before `until`. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

export class EventLogStore extends ObjectTables {
  constructor(
    storage: Pick<DurableObjectStorage, "transactionSync"> & { readonly sql: Pick<SqlStorage, "exec"> },
  ) {
    super(storage, EVENT_LOG_SCHEMA);
  }

  get #log(): LogRow {
    return this.first<LogRow>(LOG) ?? EMPTY;
  }

  get bytes(): number {
    const query = `SELECT bytes + ifnull((SELECT sum(${BYTES}) FROM events WHERE seq > counted_seq), 0) AS bytes FROM log`;
    return this.first<{ bytes: number }>(query)?.bytes ?? 0;
  }

  /** When the oldest kept event was logged (epoch ms); null without one. */
  get oldestAt(): number | null {
    const query = "SELECT logged_at AS at FROM events WHERE seq > ? ORDER BY seq LIMIT 1";
    return this.first<{ at: number }>(query, this.#log.prunedSeq)?.at ?? null;
  }

  /** The shard was restored: cursors may have numbers up to this one, also of events that it lost. */
  writeRestoredSeq(seq: number): void {
    this.write("INSERT OR REPLACE INTO facts VALUES (?, ?)", RESTORED_SEQ, String(seq));
  }

  get #restoredSeq(): number {
    const query = "SELECT CAST(value AS INTEGER) AS seq FROM facts WHERE name = ?";
    return this.first<{ seq: number }>(query, RESTORED_SEQ)?.seq ?? 0;
  }

  /** False for a position behind deleted events, or behind events that a restore has lost. */
  #isKnown(position: number, { prunedSeq, lastSeq }: LogRow): boolean {
    if (position === prunedSeq || position === lastSeq) return true;
    // Each position is that of an event, or the one before it.
    const query = "SELECT 1 FROM events WHERE seq BETWEEN ? AND ? LIMIT 1";
    return this.first(query, position, position + 1) !== null;
  }

  /** Appends each event once, by its id, all of them or none. */
  append(events: readonly OutgoingEvent[], now: number): void {
    this.#write(() => this.#append(events, now));
  }

  countRuns({ runs, failedRuns }: RunCounts, now: number): void {
    this.#write(() => this.#count(now, [0, runs, failedRuns]));
  }

  /**
   * The spans of `width` milliseconds that had any activity and begin at `from` (epoch ms) or later, the earliest first.
   * A time before `from` is one span.
   */
  readHours(from: number, width: number, before: Span = { from, until: from }): HourlyCounts[] {
    const uncounted = `SELECT occurred_at - occurred_at % ${FINE_MS}, 1, 0, 0 FROM events
      WHERE seq > (SELECT counted_seq FROM log)`;
    return this.read<HourlyCounts>(
      `SELECT iif(at < ?, ?, at - at % ?) AS hour, sum(events) AS events, sum(runs) AS runs,
         sum(failed_runs) AS failedRuns
       FROM (SELECT at, events, runs, failed_runs FROM spans UNION ALL ${uncounted})
       WHERE at >= ? OR (at >= ? AND at < ?) GROUP BY 1 ORDER BY 1`,
      ...[from, before.from, width, from, before.from, before.until],
    );
  }

  #count(at: number, counts: readonly [events: number, runs: number, failed: number]): void {
    const span = spanOf(at, FINE_MS);
    this.write(
      `INSERT INTO spans VALUES (?, ?, ?, ?) ON CONFLICT (at) DO UPDATE SET events = events + excluded.events,
         runs = runs + excluded.runs, failed_runs = failed_runs + excluded.failed_runs`,
      ...[span, ...counts],
    );
    this.write("DELETE FROM spans WHERE at < ?", span - COUNTS_KEPT_MS);
  }

  #write(work: () => void): void {
    this.transaction(() => {
      this.create();
      work();
    });
  }

  #append(events: readonly OutgoingEvent[], now: number): void {
    let { lastSeq } = this.#log;
    const { lastAt, countedSeq } = this.#log;
    lastSeq = Math.max(lastSeq, this.#restoredSeq);
    const loggedAt = Math.max(lastAt, now); // a clock that is set back must not disturb the order
    for (const { eventId, event, roomId, occurredAt, body } of events) {
      const inserted = this.first(
        "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING seq",
        ...[lastSeq + 1, eventId, event, roomId, occurredAt, loggedAt, body],
      );
      if (inserted !== null) lastSeq += 1;
    }
    if (lastSeq - countedSeq >= COUNTED_TOGETHER) this.#countAll();
  }

  /** Counts all events so far in the stored totals; within a transaction. */
  #countAll(): void {
    const query =
      "SELECT occurred_at AS at FROM events WHERE seq > (SELECT counted_seq FROM log) ORDER BY seq";
    const spans = Map.groupBy(this.read<{ at: number }>(query), ({ at }) => spanOf(at, FINE_MS));
    for (const [span, { length }] of spans) this.#count(span, [length, 0, 0]);
    const { bytes } = this;
    const { lastSeq, lastAt } = this.#log;
    this.write("UPDATE log SET counted_seq = ?, last_at = ?, bytes = ?", lastSeq, lastAt, bytes);
  }

  readLog({ after, from, until, roomId, names, limit }: LogQuery): LogSlice {
    const log = this.#log;
    if (after !== null && !this.#isKnown(after, log)) return { type: "pruned", oldestAt: this.oldestAt };
    const start = after ?? (from === null ? log.prunedSeq : this.#lastBefore(from, log));
    const events: LoggedEvent[] = [];
    let [position, scanned, chars, isCut] = [start, 0, 0, false];
    for (const row of this.#scan(start, roomId, names)) {
      if (until !== null && row.loggedAt > until)
        return { type: "slice", events, position: row.seq - 1, isAtEnd: true };
      const { body } = row;
      if (body !== null) chars += body.length;
      isCut = events.length === limit || (events.length > 0 && chars > MAX_SLICE_CHARS);
      if (isCut) break;
      if (body !== null) events.push({ ...row, body });
      position = row.seq;
      scanned += 1;
    }
    const isAtEnd = !isCut && scanned < MAX_SCANNED;
    return { type: "slice", events, position: isAtEnd ? log.lastSeq : position, isAtEnd };
  }

  /**
   * Replaces the bodies that contain a text, of some of a room's events after one. Returns the last event that was looked
   * at; null when none follows it.
   */
  replaceBodies(
    roomId: string,
    text: string,
    after: number,
    replace: (body: string) => string,
  ): number | null {
    const query = `SELECT seq, iif(instr(body, ?), body, NULL) AS body FROM events
      WHERE room_id = ? AND seq > ? ORDER BY seq LIMIT ${MAX_SCANNED}`;
    let [last, scanned, chars, growth] = [after, 0, 0, 0];
    const replaced: { readonly seq: number; readonly body: string }[] = [];
    const rows = this.iterate<{ seq: number; body: string | null }>(query, text, roomId, after);
    for (const { seq, body } of rows) {
      [last, scanned] = [seq, scanned + 1];
      if (body === null) continue;
      const redacted = replace(body);
      replaced.push({ seq, body: redacted });
      growth += byteLength(redacted) - byteLength(body);
      chars += body.length;
      if (chars > MAX_SLICE_CHARS) break;
    }
    if (replaced.length === 0) return scanned === MAX_SCANNED ? last : null;
    this.#write(() => {
      this.#countAll();
      for (const { seq, body } of replaced) this.write("UPDATE events SET body = ? WHERE seq = ?", body, seq);
      this.write("UPDATE log SET bytes = bytes + ?", growth);
    });
    return scanned === MAX_SCANNED || chars > MAX_SLICE_CHARS ? last : null;
  }

  *#scan(after: number, roomId: string | null, names: LogQuery["names"]): Iterable<ScannedRow> {
    const wanted = names === null ? null : JSON.stringify(names);
    const [condition, params] =
      roomId === null ? ["WHERE seq > ?", [after]] : ["WHERE room_id = ? AND seq > ?", [roomId, after]];
    const query = `${SCAN} ${condition} ORDER BY seq LIMIT ${MAX_SCANNED}`;
    yield* this.iterate<ScannedRow>(query, wanted, wanted, ...params);
  }

  /** The last event before this time, by bisection: there is no index for it. */
  #lastBefore(from: number, { prunedSeq, lastSeq }: LogRow): number {
    const query = "SELECT logged_at AS at FROM events WHERE seq > ? AND seq <= ? ORDER BY seq DESC LIMIT 1";
    let [before, end] = [prunedSeq, lastSeq + 1];
    while (end - before > 1) {
      const middle = Math.floor((before + end) / 2);
      const latest = this.first<{ at: number }>(query, prunedSeq, middle);
      if (latest === null || latest.at < from) before = middle;
      else end = middle;
    }
    return before;
  }

  /** Deletes some of the oldest events: those from before `before` (epoch ms), or any while the log has too many bytes. */
  prune(before: number, maxBytes: number): void {
    const { lastSeq, prunedSeq } = this.#log;
    if (prunedSeq === lastSeq) return;
    const isFull = this.bytes > maxBytes;
    const query = `SELECT max(seq) AS last, sum(${BYTES}) AS bytes
      FROM (SELECT seq, logged_at, body FROM events WHERE seq > ? ORDER BY seq LIMIT ${PRUNED_AT_ONCE})
      WHERE logged_at < ? OR ?`;
    type Pruned = { last: number | null; bytes: number };
    const pruned = this.first<Pruned>(query, prunedSeq, before, Number(isFull));
    if (pruned === null || pruned.last === null) return;
    const { last, bytes: freed } = pruned;
    this.#write(() => {
      this.#countAll();
      this.write("DELETE FROM events WHERE seq <= ?", last);
      this.write("UPDATE log SET pruned_seq = ?, bytes = bytes - ?", last, freed);
    });
  }
}

/**
 * - `log`: one row; events up to `pruned_seq` are deleted, later ones kept, without a gap but where a restore has
 *   skipped the numbers of a lost history. `bytes` and `spans` count those up to `counted_seq`; later ones, which are
 *   few, are counted when they are read.
 * - `events`: three rows written for each, with its places in the two indexes. The numbers rise with `logged_at`, so
 *   neither a read from a time nor the pruning needs an index for it.
 * - `spans`: a row for each five minutes with any activity, for charts.
 */
const TABLES = {
  ...FACTS,
  log: `CREATE TABLE IF NOT EXISTS log (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    counted_seq INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    pruned_seq INTEGER NOT NULL,
    bytes INTEGER NOT NULL
  );
  INSERT OR IGNORE INTO log VALUES (1, 0, 0, 0, 0);`,
  events: `CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    event TEXT NOT NULL,
    room_id TEXT NOT NULL,
    occurred_at INTEGER NOT NULL,
    logged_at INTEGER NOT NULL,
    body TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS events_by_room ON events (room_id, seq);`,
  spans: `CREATE TABLE IF NOT EXISTS spans (
    at INTEGER PRIMARY KEY,
    events INTEGER NOT NULL,
    runs INTEGER NOT NULL,
    failed_runs INTEGER NOT NULL
  );`,
};

export const EVENT_LOG_SCHEMA: Schema = { tables: TABLES, migrations: [] };

type LogRow = { lastSeq: number; lastAt: number; prunedSeq: number; countedSeq: number };
const EMPTY: LogRow = { lastSeq: 0, lastAt: 0, prunedSeq: 0, countedSeq: 0 };

const LOG = `SELECT max(counted_seq, ifnull(latest.seq, 0)) AS lastSeq, max(last_at, ifnull(logged_at, 0)) AS lastAt,
    pruned_seq AS prunedSeq, counted_seq AS countedSeq
  FROM log LEFT JOIN events AS latest ON latest.seq = (SELECT max(seq) FROM events)`;

type ScannedRow = Omit<LoggedEvent, "body"> & { readonly body: string | null };

const SCAN = `SELECT seq, id AS eventId, event, room_id AS roomId, occurred_at AS occurredAt, logged_at AS loggedAt,
  iif(? IS NULL OR instr(?, json_quote(event)), body, NULL) AS body FROM events`;
