/** A room's streams in SQLite: each append is a row, of which the last one tells the stream's end. */
import { STREAM_CHARGES } from "@atrium/contract/stream-limits.ts";
import { unusedNumber } from "@atrium/contract/time.ts";
import type { ProducerTurn } from "../types/streams.ts";
import { LIMIT, SqlitePart } from "./sqlite-tables.ts";

export interface StoredStream {
  /** Never given again. */
  readonly id: number;
  readonly name: string;
  readonly root: number;
  /** The stream of which this one is a fork; null for none. */
  readonly source: number | null;
  readonly base: number;
  readonly contentType: string;
  /** Epoch milliseconds, like all times here. */
  readonly createdAt: number;
  /** The TTL in seconds, and when the stream ends: of a TTL, a time after that. Null without one. */
  readonly ttl: number | null;
  readonly endsAt: number | null;
  /** The latest `Stream-Seq`; null for none. */
  readonly sort: string | null;
  readonly isClosed: boolean;
  /** The append that closed the stream; null without a producer. */
  readonly closedBy: ProducerTurn | null;
  /** Whether it was deleted, and forks read it still. */
  readonly isDeleted: boolean;
}

/** The last append; a stream without one has the number 0. */
interface LastAppend {
  readonly end: number;
  readonly number: number;
}

interface StoredAppend {
  readonly stream: number;
  readonly start: number;
  readonly number: number;
  readonly at: number;
  readonly userId: string | null;
  readonly data: Uint8Array;
}

/** A user's appends to one stream. */
interface OwnAppends {
  readonly appends: number;
  readonly bytes: number;
  readonly firstAt: number;
  readonly at: number;
}

const COLUMNS = `id, name, root, source, base, content_type AS contentType, created_at AS createdAt, ttl,
  ends_at AS endsAt, sort, closed, closed_by AS closedBy, deleted`;

type StreamRow = Omit<StoredStream, "isClosed" | "closedBy" | "isDeleted"> & {
  readonly closed: number;
  readonly closedBy: string | null;
  readonly deleted: number;
};

const streamOf = ({ closed, closedBy, deleted, ...row }: StreamRow): StoredStream => ({
  ...row,
  isClosed: closed === 1,
  closedBy: closedBy === null ? null : (JSON.parse(closedBy) as ProducerTurn),
  isDeleted: deleted === 1,
});

/** Rows that one read looks at. */
export const APPENDS_AT_ONCE = 10_000;

export class SqliteStreams extends SqlitePart {
  find(name: string): StoredStream | null {
    return this.#findBy("name = ?", name);
  }

  byId(id: number): StoredStream | null {
    return this.#findBy("id = ?", id);
  }

  #findBy(condition: string, value: string | number): StoredStream | null {
    const row = this.tables.find<StreamRow>(`SELECT ${COLUMNS} FROM streams WHERE ${condition}`, value);
    return row && streamOf(row);
  }

  /** By name, after one. Deleted ones that forks read are among them. */
  list(after: string, limit: number): StoredStream[] {
    const query = `SELECT ${COLUMNS} FROM streams WHERE name > ? ORDER BY name ${LIMIT}`;
    return this.tables.read<StreamRow>(query, after, limit).map(streamOf);
  }

  /** The stream with this number, or the next one that has not ended. */
  nextFrom(id: number): StoredStream | null {
    return this.#findBy("id >= ? AND name IS NOT NULL ORDER BY id LIMIT 1", id);
  }

  /** A number above those of all streams that the room had, and of all families of offsets. */
  newId(now: number): number {
    return Math.max(unusedNumber(now), this.nextNumber("streams", "id"));
  }

  insert({
    id,
    name,
    root,
    source,
    base,
    contentType,
    createdAt,
    ttl,
    endsAt,
    isClosed,
  }: StoredStream): void {
    const row = { id, name, root, source, base, content_type: contentType, created_at: createdAt, ttl };
    const states = { ends_at: endsAt, sort: null, closed: Number(isClosed), closed_by: null, deleted: 0 };
    this.tables.insert("streams", { ...row, ...states });
  }

  putSort(id: number, sort: string): void {
    this.tables.write("UPDATE streams SET sort = ? WHERE id = ?", sort, id);
  }

  close(id: number, by: ProducerTurn | null): void {
    const json = by === null ? null : JSON.stringify(by);
    this.tables.write("UPDATE streams SET closed = 1, closed_by = ? WHERE id = ?", json, id);
  }

  moveEnd(id: number, endsAt: number): void {
    this.tables.write("UPDATE streams SET ends_at = ? WHERE id = ?", endsAt, id);
  }

  /** Forks go on reading it. */
  markDeleted(id: number): void {
    this.tables.write("UPDATE streams SET deleted = 1, ends_at = NULL WHERE id = ?", id);
  }

  /** Gives up the name: the rows are to be removed. */
  end(id: number): void {
    this.tables.write("UPDATE streams SET name = NULL, source = NULL, ends_at = NULL WHERE id = ?", id);
  }

  hasForks(id: number): boolean {
    return this.tables.find("SELECT 1 FROM streams WHERE source = ? LIMIT 1", id) !== null;
  }

  lastOf({ id, base }: Pick<StoredStream, "id" | "base">): LastAppend {
    const query = `SELECT start + length(data) AS end, number FROM stream_appends
      WHERE stream = ? ORDER BY start DESC LIMIT 1`;
    return this.tables.find<LastAppend>(query, id) ?? { end: base, number: 0 };
  }

  append({ userId, data, ...append }: StoredAppend): void {
    this.tables.insert("stream_appends", { ...append, user_id: userId, data: data.slice().buffer });
  }

  /** Data between two positions, from whole appends but the first, until they have `maxBytes`: at least one append. */
  read(id: number, from: number, to: number, maxBytes: number): Uint8Array[] {
    const first = this.tables.find<{ start: number }>(
      "SELECT max(start) AS start FROM stream_appends WHERE stream = ? AND start <= ?",
      ...[id, from],
    );
    const begin = first?.start ?? from;
    const sizes = this.tables.read<{ start: number; bytes: number }>(
      `SELECT start, length(data) AS bytes FROM stream_appends WHERE stream = ? AND start >= ? AND start < ?
       ORDER BY start ${LIMIT}`,
      ...[id, begin, to, APPENDS_AT_ONCE],
    );
    const last = sizes.findLast(({ start, bytes }) => start + bytes - from <= maxBytes) ?? sizes[0];
    if (last === undefined) return [];
    return this.tables
      .read<{ data: ArrayBuffer }>(
        `SELECT substr(data, 1 + max(0, ? - start), ? - max(?, start)) AS data FROM stream_appends
         WHERE stream = ? AND start BETWEEN ? AND ? ORDER BY start`,
        ...[from, to, from, id, begin, last.start],
      )
      .map(({ data }) => new Uint8Array(data));
  }

  findProducer(stream: number, id: string): ProducerTurn | null {
    const query = "SELECT id, epoch, seq FROM stream_producers WHERE stream = ? AND id = ?";
    return this.tables.find<ProducerTurn>(query, stream, id);
  }

  putProducer(stream: number, turn: ProducerTurn): void {
    this.tables.insert("stream_producers", { stream, ...turn }, "INSERT OR REPLACE");
  }

  /** The bytes that all streams count for. Ended streams lack some of their first appends. */
  measure(): number {
    const { stream, append, producer } = STREAM_CHARGES;
    const edge = (column: string, order: "ASC" | "DESC") =>
      `(SELECT ${column} FROM stream_appends WHERE stream = streams.id ORDER BY start ${order} LIMIT 1)`;
    const query = `SELECT count(*) * ${stream} + (SELECT count(*) FROM stream_producers) * ${producer}
      + ifnull(sum(${edge(`start + length(data) + number * ${append}`, "DESC")}
        - ${edge(`start + (number - 1) * ${append}`, "ASC")}), 0) AS bytes FROM streams`;
    return this.tables.find<{ bytes: number }>(query)?.bytes ?? 0;
  }

  /** When the next stream ends; null when none does. */
  nextEnd(): number | null {
    const query = "SELECT min(ends_at) AS at FROM streams WHERE ends_at IS NOT NULL";
    return this.tables.find<{ at: number | null }>(query)?.at ?? null;
  }

  listEnding(before: number, limit: number): StoredStream[] {
    const query = `SELECT ${COLUMNS} FROM streams WHERE ends_at <= ? ORDER BY ends_at ${LIMIT}`;
    return this.tables.read<StreamRow>(query, before, limit).map(streamOf);
  }

  /** A stream that has ended, and whose rows are left; null for none. */
  findEnded(): number | null {
    return this.tables.find<{ id: number }>("SELECT id FROM streams WHERE name IS NULL LIMIT 1")?.id ?? null;
  }

  /** Removes some rows of an ended stream, and the stream after the last one. Returns the bytes that they counted for. */
  removeSome(id: number, maxRows: number, maxBytes: number): number {
    const charges = STREAM_CHARGES;
    const appends = this.tables.read<{ start: number; bytes: number }>(
      `SELECT start, length(data) AS bytes FROM stream_appends WHERE stream = ? ORDER BY start ${LIMIT}`,
      ...[id, maxRows],
    );
    const begin = appends[0]?.start ?? 0;
    const fitting = appends.filter(
      ({ start, bytes }) => start === begin || start + bytes - begin <= maxBytes,
    );
    const last = fitting.at(-1);
    if (last !== undefined) {
      this.tables.write("DELETE FROM stream_appends WHERE stream = ? AND start <= ?", id, last.start);
      return last.start + last.bytes - begin + fitting.length * charges.append;
    }
    const producers = this.tables.read<{ id: string }>(
      `SELECT id FROM stream_producers WHERE stream = ? ORDER BY id ${LIMIT}`,
      ...[id, maxRows],
    );
    const lastProducer = producers.at(-1);
    if (lastProducer !== undefined) {
      const query = "DELETE FROM stream_producers WHERE stream = ? AND id <= ?";
      this.tables.write(query, id, lastProducer.id);
      return producers.length * charges.producer;
    }
    this.tables.write("DELETE FROM streams WHERE id = ?", id);
    this.retire("streams", id);
    return charges.stream;
  }

  /** After a restore, offsets from before it are of no stream any more, and each TTL begins anew. */
  settleRestored(now: number): void {
    if (!this.tables.exist) return;
    this.tables.write(
      `UPDATE streams SET root = ? + number FROM
         (SELECT id AS numbered, row_number() OVER (ORDER BY id) AS number FROM streams) WHERE id = numbered`,
      unusedNumber(now),
    );
    const last = this.tables.find<{ root: number | null }>("SELECT max(root) AS root FROM streams");
    this.retire("streams", last?.root ?? 0);
    this.tables.write(
      "UPDATE streams SET ends_at = max(ends_at, ? + ttl * 1000) WHERE ttl IS NOT NULL AND ends_at IS NOT NULL",
      now,
    );
  }

  /** Appends of a user to a stream, between two numbers. */
  countOf(stream: number, userId: string, after: number, upTo: number): OwnAppends | null {
    const query = `SELECT count(*) AS appends, sum(length(data)) AS bytes, min(at) AS firstAt, max(at) AS at
      FROM stream_appends WHERE stream = ? AND user_id = ? AND start >= ? AND start < ?`;
    const own = this.tables.find<OwnAppends>(query, stream, userId, after, upTo);
    return own === null || own.appends === 0 ? null : own;
  }

  /** The start of the append that comes this many rows after one; null past the end. */
  startAfter(stream: number, from: number, rows: number): number | null {
    const query = `SELECT start FROM stream_appends WHERE stream = ? AND start >= ? ORDER BY start ${LIMIT} OFFSET ?`;
    return this.tables.find<{ start: number }>(query, stream, from, 1, rows)?.start ?? null;
  }
}
