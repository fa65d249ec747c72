/** The SQLite database of one shard of an event log. Empty until the first event. */
import { createTables, FACTS, openTables, type Schema } from "../../platform/objects/object-tables.ts";
import { byteLength } from "../../platform/text.ts";
import type { OutgoingEvent } from "../outbox/subscription.ts";
import {
  countEvents,
  countRuns,
  FINE_MS,
  HOURS_TABLE,
  type HourlyCounts,
  type RunCounts,
  readHours,
  SPANS_TABLE,
  spanOf,
} from "./hourly-count-store.ts";
import type { LoggedEvent, LogQuery, LogSlice } from "./log-page.ts";

/** Bytes of an event on disk besides its body, its places in the indexes included. */
const ROW_BYTES = 300;
const PRUNED_AT_ONCE = 500;
/** Rows that one read looks at, and the characters of bodies after which it ends. */
const MAX_SCANNED = 5_000;
const MAX_SLICE_CHARS = 1024 * 1024;

interface Storage extends Pick<DurableObjectStorage, "transactionSync"> {
  readonly sql: Pick<SqlStorage, "exec">;
}

export class EventLogStore {
  readonly #storage: Storage;
  readonly #sql: Storage["sql"];
  #hasTables: boolean;
  /** The row of `log`, which only this object writes, and when the oldest event was logged; null until they are read. */
  #known: (LogRow & { readonly oldestAt: number | null }) | null = null;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.#hasTables = openTables(storage, EVENT_LOG_SCHEMA);
  }

  get #log(): LogRow & { readonly oldestAt: number | null } {
    if (!this.#hasTables) return { ...EMPTY, oldestAt: null };
    if (this.#known !== null) return this.#known;
    const query = "SELECT last_seq AS lastSeq, last_at AS lastAt, pruned_seq AS prunedSeq, bytes FROM log";
    const log = this.#sql.exec<LogRow>(query).one();
    this.#known = { ...log, oldestAt: this.#loggedAt(log.prunedSeq + 1) };
    return this.#known;
  }

  #updateLog(changes: Partial<LogRow>): void {
    const { oldestAt, ...earlier } = this.#log;
    const log = { ...earlier, ...changes };
    const { lastSeq, lastAt, prunedSeq, bytes } = log;
    const row = [lastSeq, lastAt, prunedSeq, bytes];
    this.#sql.exec("UPDATE log SET last_seq = ?, last_at = ?, pruned_seq = ?, bytes = ?", ...row);
    const isOldestKnown = oldestAt !== null && changes.prunedSeq === undefined;
    this.#known = isOldestKnown ? { ...log, oldestAt } : null;
  }

  get bytes(): number {
    return this.#log.bytes;
  }

  /** When the oldest kept event was logged (epoch ms); null without one. */
  get oldestAt(): number | null {
    return this.#log.oldestAt;
  }

  #loggedAt(seq: number): number | null {
    if (!this.#hasTables) return null;
    const query = "SELECT logged_at AS at FROM events WHERE seq = ?";
    return this.#sql.exec<{ at: number }>(query, seq).toArray()[0]?.at ?? null;
  }

  /** Appends each event once, by its id, all of them or none. */
  append(events: readonly OutgoingEvent[], now: number): void {
    this.#write(() => this.#append(events, now));
  }

  countRuns(runs: RunCounts, now: number): void {
    this.#write(() => countRuns(this.#sql, now, runs));
  }

  /** The spans of `width` milliseconds from `from` (epoch ms) on that had any activity, the earliest first. */
  readHours(from: number, width: number): HourlyCounts[] {
    return this.#hasTables ? readHours(this.#sql, from, width) : [];
  }

  #write(work: () => void): void {
    const hadTables = this.#hasTables;
    try {
      this.#storage.transactionSync(() => {
        if (!this.#hasTables) createTables(this.#storage, EVENT_LOG_SCHEMA);
        this.#hasTables = true;
        work();
      });
    } catch (error) {
      this.#hasTables = hadTables; // tables are rolled back like rows
      this.#known = null;
      throw error;
    }
  }

  #append(events: readonly OutgoingEvent[], now: number): void {
    let { lastSeq, lastAt, bytes } = this.#log;
    const added = new Map<number, number>();
    lastAt = Math.max(lastAt, now); // a clock that is set back must not disturb the order
    for (const { eventId, event, roomId, occurredAt, body } of events) {
      const [inserted] = this.#sql
        .exec<{ bytes: number }>(
          `INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
           RETURNING ${ROW_BYTES} + length(CAST(body AS BLOB)) AS bytes`,
          ...[lastSeq + 1, eventId, event, roomId, occurredAt, lastAt, body],
        )
        .toArray();
      if (inserted === undefined) continue;
      lastSeq += 1;
      bytes += inserted.bytes;
      const span = spanOf(occurredAt, FINE_MS);
      added.set(span, (added.get(span) ?? 0) + 1);
    }
    this.#updateLog({ lastSeq, lastAt, bytes });
    for (const [span, count] of added) countEvents(this.#sql, span, count);
  }

  read({ after, from, until, roomId, names, limit }: LogQuery): LogSlice {
    const log = this.#log;
    if (after !== null && (after < log.prunedSeq || after > log.lastSeq))
      return { type: "pruned", oldestAt: this.oldestAt };
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
    if (!this.#hasTables) return null;
    const query = `SELECT seq, iif(instr(body, ?), body, NULL) AS body FROM events
      WHERE room_id = ? AND seq > ? ORDER BY seq LIMIT ${MAX_SCANNED}`;
    let [last, scanned, chars, growth] = [after, 0, 0, 0];
    const replaced: { readonly seq: number; readonly body: string }[] = [];
    for (const { seq, body } of this.#sql.exec<{ seq: number; body: string | null }>(
      query,
      text,
      roomId,
      after,
    )) {
      [last, scanned] = [seq, scanned + 1];
      if (body === null) continue;
      const redacted = replace(body);
      replaced.push({ seq, body: redacted });
      growth += byteLength(redacted) - byteLength(body);
      chars += body.length;
      if (chars > MAX_SLICE_CHARS) break;
    }
    this.#write(() => {
      for (const { seq, body } of replaced)
        this.#sql.exec("UPDATE events SET body = ? WHERE seq = ?", body, seq);
      this.#updateLog({ bytes: this.#log.bytes + growth });
    });
    return scanned === MAX_SCANNED || chars > MAX_SLICE_CHARS ? last : null;
  }

  *#scan(after: number, roomId: string | null, names: LogQuery["names"]): Iterable<ScannedRow> {
    if (!this.#hasTables) return;
    const wanted = names === null ? null : JSON.stringify(names);
    const [condition, params] =
      roomId === null ? ["WHERE seq > ?", [after]] : ["WHERE room_id = ? AND seq > ?", [roomId, after]];
    const query = `${SCAN} ${condition} ORDER BY seq LIMIT ${MAX_SCANNED}`;
    yield* this.#sql.exec<ScannedRow>(query, wanted, wanted, ...params);
  }

  /** The last event before this time, by bisection: there is no index for it. */
  #lastBefore(from: number, { prunedSeq, lastSeq }: LogRow): number {
    let [before, end] = [prunedSeq, lastSeq + 1];
    while (end - before > 1) {
      const middle = Math.floor((before + end) / 2);
      if ((this.#loggedAt(middle) ?? 0) < from) before = middle;
      else end = middle;
    }
    return before;
  }

  /** Deletes some of the oldest events: those from before `before` (epoch ms), or any while the log has too many bytes. */
  prune(before: number, maxBytes: number): void {
    const { lastSeq, prunedSeq, bytes } = this.#log;
    if (prunedSeq === lastSeq) return;
    const isFull = bytes > maxBytes;
    const query = `SELECT count(*) AS events, ifnull(sum(${ROW_BYTES} + length(CAST(body AS BLOB))), 0) AS bytes
      FROM (SELECT body FROM events WHERE seq > ? AND seq <= ? AND (logged_at < ? OR ?) ORDER BY seq)`;
    const until = prunedSeq + PRUNED_AT_ONCE;
    type Pruned = { events: number; bytes: number };
    const pruned = this.#sql.exec<Pruned>(query, prunedSeq, until, before, Number(isFull)).one();
    if (pruned.events === 0) return;
    const last = prunedSeq + pruned.events;
    this.#write(() => {
      this.#sql.exec("DELETE FROM events WHERE seq <= ?", last);
      this.#updateLog({ prunedSeq: last, bytes: bytes - pruned.bytes });
    });
  }
}

/**
 * - `log`: one row; events up to `pruned_seq` are deleted, those up to `last_seq` kept, without a gap.
 * - `events`: three rows written for each, with its places in the two indexes. The numbers rise with `logged_at`, so
 *   neither a read from a time nor the pruning needs an index for it.
 * - `hours` and `spans`: what happened when, for charts. An event counts in the transaction that appends it.
 */
const TABLES = {
  ...FACTS,
  log: `CREATE TABLE IF NOT EXISTS log (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    last_seq INTEGER NOT NULL,
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
  hours: HOURS_TABLE,
  spans: SPANS_TABLE,
};

export const EVENT_LOG_SCHEMA: Schema = { tables: TABLES, migrations: [] };

type LogRow = { lastSeq: number; lastAt: number; prunedSeq: number; bytes: number };
const EMPTY: LogRow = { lastSeq: 0, lastAt: 0, prunedSeq: 0, bytes: 0 };

type ScannedRow = Omit<LoggedEvent, "body"> & { readonly body: string | null };

const SCAN = `SELECT seq, id AS eventId, event, room_id AS roomId, occurred_at AS occurredAt, logged_at AS loggedAt,
  iif(? IS NULL OR instr(?, json_quote(event)), body, NULL) AS body FROM events`;
