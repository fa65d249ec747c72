/** The SQLite database of one shard of an event log, with its counts for charts. Empty until the first event. */

import type { WebhookEventName } from "@atrium/contract/resources/events.ts";
import { byteLength } from "@atrium/contract/text.ts";
import { DAY_MS, MINUTE_MS } from "@atrium/contract/time.ts";
import { FACTS, ObjectTables, RESTORED_SEQ, type Schema } from "../../platform/objects/object-tables.ts";
import { mentionedIn, type OutgoingEvent } from "../outbox/subscription.ts";
import type { LoggedEvent, LogQuery, LogSlice } from "./log-page.ts";

/** Bytes of a row on disk besides its texts, its place in the index included. */
const ROW_BYTES = 150;
const BYTES = `${ROW_BYTES} + octet_length(heads) + octet_length(bodies)`;
/** The bodies of one row, in characters: a row may have 2 MB. */
const MAX_ROW_CHARS = 256 * 1024;
/** Clocks differ by less: a room's event is logged no earlier than this before its time. */
const CLOCK_TOLERANCE_MS = 10_000;
const PRUNED_AT_ONCE = 500;
/** Events that are counted together. */
const COUNTED_TOGETHER = 64;
/** Events whose IDs are in memory, since most of those that come again come soon: of this time, or this many. */
const RECENT_MS = 60_000;
const RECENT_EVENTS = 5_000;
/** Events that one read looks at, and the characters of bodies after which it ends. */
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
  #recent: RecentEvents | null = null;

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
    const query = "SELECT seq - count AS before FROM events WHERE seq >= ? ORDER BY seq LIMIT 1";
    return (this.first<{ before: number }>(query, position)?.before ?? Number.POSITIVE_INFINITY) <= position;
  }

  /** Appends each event once, by its id, all of them or none. */
  append(events: readonly OutgoingEvent[], now: number): void {
    try {
      this.#write(() => this.#append(events, now));
    } catch (error) {
      this.#recent = null;
      throw error;
    }
  }

  countRuns({ runs, failedRuns }: RunCounts, now: number): void {
    this.#write(() => this.#count(now, [0, runs, failedRuns]));
  }

  /**
   * The spans of `width` milliseconds that had any activity and begin at `from` (epoch ms) or later, the earliest first.
   * A time before `from` is one span.
   */
  readHours(from: number, width: number, before: Span = { from, until: from }): HourlyCounts[] {
    const uncounted = `SELECT value ->> 2 - value ->> 2 % ${FINE_MS}, 1, 0, 0 FROM events, json_each(heads)
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
    for (const { roomId, heads, bodies } of rowsOf(this.#unlogged(events, loggedAt))) {
      lastSeq += heads.length;
      this.write(
        "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)",
        ...[lastSeq, heads.length, roomId, loggedAt, JSON.stringify(heads), bodies],
      );
    }
    if (lastSeq - countedSeq >= COUNTED_TOGETHER) this.#countAll();
  }

  /** The events that the log does not have, each once. An event can only be among those that were logged since it occurred. */
  #unlogged(events: readonly OutgoingEvent[], now: number): OutgoingEvent[] {
    this.#recent ??= this.#readRecent(now);
    const { ids, since } = this.#recent;
    const isLogged = ({ eventId, roomId, occurredAt }: OutgoingEvent) =>
      ids.has(eventId) ||
      (occurredAt - CLOCK_TOLERANCE_MS <= since && this.#isLogged(eventId, roomId, occurredAt));
    const unlogged: OutgoingEvent[] = [];
    for (const event of events) {
      if (!isLogged(event)) unlogged.push(event);
      ids.add(event.eventId);
    }
    if (ids.size > 2 * RECENT_EVENTS) this.#recent = null;
    return unlogged;
  }

  #readRecent(now: number): RecentEvents {
    const ids = new Set<string>();
    const query = "SELECT logged_at AS loggedAt, heads FROM events WHERE seq > ? ORDER BY seq DESC";
    for (const { loggedAt, heads } of this.iterate<LoggedHeads>(query, this.#log.prunedSeq)) {
      if (loggedAt < now - RECENT_MS || ids.size >= RECENT_EVENTS) return { ids, since: loggedAt };
      for (const [id] of parseHeads(heads)) ids.add(id);
    }
    return { ids, since: Number.NEGATIVE_INFINITY };
  }

  #isLogged(eventId: string, roomId: string, occurredAt: number): boolean {
    const query = "SELECT logged_at AS loggedAt, heads FROM events WHERE room_id = ? ORDER BY seq DESC";
    for (const { loggedAt, heads } of this.iterate<LoggedHeads>(query, roomId)) {
      if (loggedAt < occurredAt - CLOCK_TOLERANCE_MS) break;
      if (parseHeads(heads).some(([id]) => id === eventId)) return true;
    }
    return false;
  }

  /** Counts all events so far in the stored totals; within a transaction. */
  #countAll(): void {
    const query = "SELECT heads FROM events WHERE seq > (SELECT counted_seq FROM log) ORDER BY seq";
    const times = this.read<{ heads: string }>(query).flatMap(({ heads }) =>
      parseHeads(heads).map(([_id, _event, occurredAt]) => occurredAt),
    );
    const spans = Map.groupBy(times, (at) => spanOf(at, FINE_MS));
    for (const [span, { length }] of spans) this.#count(span, [length, 0, 0]);
    const { bytes } = this;
    const { lastSeq, lastAt } = this.#log;
    this.write("UPDATE log SET counted_seq = ?, last_at = ?, bytes = ?", lastSeq, lastAt, bytes);
  }

  readLog({ after, from, until, roomId, names, mentioned, limit }: LogQuery): LogSlice {
    const log = this.#log;
    const isPruned = after !== null && after < log.prunedSeq;
    const known = isPruned && mentioned !== undefined ? log.prunedSeq : after;
    if (known !== null && !this.#isKnown(known, log)) return { type: "pruned", oldestAt: this.oldestAt };
    const start = known ?? (from === null ? log.prunedSeq : this.#lastBefore(from, log));
    const events: LoggedEvent[] = [];
    let [position, scanned, chars, isCut] = [start, 0, 0, false];
    for (const event of this.#scan(start, roomId, names, mentioned !== undefined)) {
      if (until !== null && event.loggedAt > until)
        return { type: "slice", events, position: event.seq - 1, isAtEnd: true };
      const isNamed = names === null || names.includes(event.event as WebhookEventName);
      const isWanted = isNamed && (mentioned === undefined || mentionedIn(event) === mentioned);
      if (isNamed) chars += event.body.length;
      isCut = events.length === limit || (scanned > 0 && chars > MAX_SLICE_CHARS);
      if (isCut) break;
      if (isWanted) events.push(event);
      position = event.seq;
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
    const query = `SELECT seq, heads, iif(instr(bodies, ?), bodies, NULL) AS bodies FROM events
      WHERE room_id = ? AND seq > ? ORDER BY seq LIMIT ${MAX_SCANNED}`;
    let [last, scanned, chars, growth] = [after, 0, 0, 0];
    const replaced: { readonly seq: number; readonly heads: string; readonly bodies: string }[] = [];
    type Found = { seq: number; heads: string; bodies: string | null };
    for (const { seq, heads, bodies } of this.iterate<Found>(query, text, roomId, after)) {
      [last, scanned] = [seq, scanned + 1];
      if (bodies === null) continue;
      const texts = splitBodies(parseHeads(heads), bodies).map((body) =>
        body.includes(text) ? replace(body) : body,
      );
      const row = {
        heads: JSON.stringify(
          parseHeads(heads).map((head, index) => head.with(3, texts[index]?.length ?? 0)),
        ),
        bodies: texts.join(""),
      };
      replaced.push({ seq, ...row });
      growth += byteLength(row.heads + row.bodies) - byteLength(heads + bodies);
      chars += bodies.length;
      if (chars > MAX_SLICE_CHARS) break;
    }
    if (replaced.length === 0) return scanned === MAX_SCANNED ? last : null;
    this.#write(() => {
      this.#countAll();
      for (const { seq, heads, bodies } of replaced)
        this.write("UPDATE events SET heads = ?, bodies = ? WHERE seq = ?", heads, bodies, seq);
      this.write("UPDATE log SET bytes = bytes + ?", growth);
    });
    return scanned === MAX_SCANNED || chars > MAX_SLICE_CHARS ? last : null;
  }

  /** The events after one, with the bodies of rows that have a wanted one. */
  *#scan(
    after: number,
    roomId: string | null,
    names: LogQuery["names"],
    hasMentions: boolean,
  ): Iterable<LoggedEvent> {
    const wanted = names === null ? null : JSON.stringify(names);
    const [condition, params] =
      roomId === null ? ["WHERE seq > ?", [after]] : ["WHERE room_id = ? AND seq > ?", [roomId, after]];
    const query = `${SCAN} ${condition} ${hasMentions ? `AND ${HAS_MENTION}` : ""} ORDER BY seq LIMIT ${MAX_SCANNED}`;
    for (const row of this.iterate<EventsRow>(query, wanted, wanted, ...params)) {
      const heads = parseHeads(row.heads);
      const bodies = row.bodies === null ? [] : splitBodies(heads, row.bodies);
      for (const [index, [eventId, event, occurredAt]] of heads.entries()) {
        const seq = row.seq - heads.length + 1 + index;
        const { loggedAt } = row;
        if (seq > after)
          yield { seq, eventId, event, roomId: row.roomId, occurredAt, loggedAt, body: bodies[index] ?? "" };
      }
    }
  }

  /** The last event before this time, by bisection: there is no index for it. */
  #lastBefore(from: number, { prunedSeq, lastSeq }: LogRow): number {
    const query = "SELECT logged_at AS at FROM events WHERE seq >= ? ORDER BY seq LIMIT 1";
    let [before, end] = [prunedSeq, lastSeq + 1];
    while (end - before > 1) {
      const middle = Math.floor((before + end) / 2);
      if ((this.first<{ at: number }>(query, middle)?.at ?? from) < from) before = middle;
      else end = middle;
    }
    return before;
  }

  /** Deletes some of the oldest events: those from before `before` (epoch ms), and others while the log has too many bytes. */
  prune(before: number, maxBytes: number): void {
    const { lastSeq, prunedSeq } = this.#log;
    if (prunedSeq === lastSeq) return;
    const query = `SELECT max(seq) AS last, sum(bytes) AS bytes
      FROM (SELECT seq, logged_at, bytes, sum(bytes) OVER (ORDER BY seq) - bytes AS bytes_before
        FROM (SELECT seq, logged_at, ${BYTES} AS bytes FROM events WHERE seq > ? ORDER BY seq LIMIT ${PRUNED_AT_ONCE}))
      WHERE logged_at < ? OR bytes_before < ?`;
    type Pruned = { last: number | null; bytes: number };
    const pruned = this.first<Pruned>(query, prunedSeq, before, this.bytes - maxBytes);
    if (pruned === null || pruned.last === null) return;
    const { last, bytes: freed } = pruned;
    this.#write(() => {
      this.#countAll();
      this.write("DELETE FROM events WHERE seq <= ?", last);
      this.write("UPDATE log SET pruned_seq = ?, bytes = bytes - ?", last, freed);
    });
  }
}

/** SQL that is true of rows with mentions of agents, which an index finds among all others. */
const HAS_MENTION = `instr(heads, '"agent.mentioned"')`;

/**
 * - `log`: one row; events up to `pruned_seq` are deleted, later ones kept, without a gap but where a restore has
 *   skipped the numbers of a lost history. `bytes` and `spans` count those up to `counted_seq`; later ones, which are
 *   few, are counted when they are read.
 * - `events`: a row of `count` events of a room that came together, up to the number `seq`; `heads` has the
 *   {@link Head} of each, and `bodies` their texts without anything between them. With its place in the index, such a
 *   row is two rows written, and three with mentions of agents. The numbers rise with `logged_at`, so neither a read from a time nor the pruning needs an
 *   index for it.
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
    count INTEGER NOT NULL,
    room_id TEXT NOT NULL,
    logged_at INTEGER NOT NULL,
    heads TEXT NOT NULL,
    bodies TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS events_by_room ON events (room_id, seq);
  CREATE INDEX IF NOT EXISTS events_with_mentions ON events (seq) WHERE ${HAS_MENTION};`,
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

/** `length` is that of the body, in the units of JavaScript's strings. */
type Head = [id: string, event: OutgoingEvent["event"], occurredAt: number, length: number];

const parseHeads = (heads: string): Head[] => JSON.parse(heads) as Head[];

function splitBodies(heads: readonly Head[], bodies: string): string[] {
  let end = 0;
  return heads.map(([_id, _event, _occurredAt, length]) => {
    end += length;
    return bodies.slice(end - length, end);
  });
}

interface NewRow {
  readonly roomId: string;
  readonly heads: Head[];
  bodies: string;
}

/** Events by the rows that take them, in order. */
function rowsOf(events: readonly OutgoingEvent[]): NewRow[] {
  const rows: NewRow[] = [];
  for (const { eventId, event, roomId, occurredAt, body } of events) {
    const head: Head = [eventId, event, occurredAt, body.length];
    const last = rows.at(-1);
    if (last?.roomId !== roomId || last.bodies.length + body.length > MAX_ROW_CHARS)
      rows.push({ roomId, heads: [head], bodies: body });
    else {
      last.heads.push(head);
      last.bodies += body;
    }
  }
  return rows;
}

type LoggedHeads = { readonly loggedAt: number; readonly heads: string };

/** The IDs of all events that were logged after `since` (epoch ms), and of some before. */
interface RecentEvents {
  readonly ids: Set<string>;
  readonly since: number;
}

type EventsRow = {
  readonly seq: number;
  readonly roomId: string;
  readonly loggedAt: number;
  readonly heads: string;
  /** Null if no event of the row is wanted. */
  readonly bodies: string | null;
};

const SCAN = `SELECT seq, room_id AS roomId, logged_at AS loggedAt, heads,
  iif(? IS NULL OR EXISTS (SELECT 1 FROM json_each(heads) WHERE instr(?, json_quote(value ->> 1))), bodies, NULL)
    AS bodies FROM events`;
