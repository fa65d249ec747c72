/** Reads the archive of an object's database while it goes on: slice by slice, and as it is in one moment at the end. */

import type { ArchivedRow, ArchiveSlice, ArchiveValue } from "./archive-slice.ts";
import { dropChanges, readVersion } from "./object-tables.ts";
import {
  changesAfter,
  countTriggers,
  forgetChanges,
  noteChanges,
  partsOf,
  readSequences,
  rowOf,
  rowsAfter,
  type Sql,
  shapeOf,
  type TableShape,
} from "./row-store.ts";
import { beingArchived } from "./rpc.ts";

/** A backup that has not asked for this time has died; its changes are no longer noted. */
const KEPT_MS = 60_000;

interface Cursor {
  readonly reading: string;
  readonly at: Position;
}

interface Reading {
  readonly id: string;
  readonly shapes: readonly TableShape[];
  readonly triggers: number;
}

/**
 * Copies rows in key order while triggers log changes, then replays the log until it is empty. The last
 * slice is a consistent snapshot; no write waits.
 */
export class ArchiveReader {
  limits = LIMITS;
  readonly #storage: DurableObjectStorage;
  #reading: Reading | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Throws {@link beingArchived} for an overtaken reading: two at once would never end. */
  read(after: string | null): ArchiveSlice {
    const cursor = after === null ? null : parseCursor(after);
    if (cursor !== null && this.#reading !== null && cursor.reading !== this.#reading.id)
      throw beingArchived();
    return this.#storage.transactionSync(() => {
      return cursor !== null && this.#isKnown(cursor) ? this.#continue(cursor) : this.#begin();
    });
  }

  /** Also false for one of an earlier life, or after tables were dropped. */
  #isKnown({ reading }: Cursor): boolean {
    const known = this.#reading;
    return known?.id === reading && countTriggers(this.#storage.sql) === known.triggers;
  }

  #begin(): ArchiveSlice {
    const { sql } = this.#storage;
    this.#end();
    const schema = partsOf(sql);
    const shapes = schema.flatMap(({ type, name }) => (type === "table" ? (shapeOf(sql, name) ?? []) : []));
    const id = crypto.randomUUID();
    const collected = collectRows(sql, shapes, null, this.limits);
    if (collected.next === null || "changes" in collected.next)
      return { ...this.#slice(id, { ...collected, next: null }), schema };
    noteChanges(sql, shapes);
    this.#reading = { id, shapes, triggers: countTriggers(sql) };
    this.#keep();
    return { ...this.#slice(id, collected), schema };
  }

  #continue({ reading, at }: Cursor): ArchiveSlice {
    this.#keep();
    const { sql } = this.#storage;
    const shapes = this.#reading?.shapes ?? [];
    const collected =
      "changes" in at
        ? collectChanges(sql, shapes, at.changes, this.limits)
        : collectRows(sql, shapes, at, this.limits);
    return this.#slice(reading, collected);
  }

  #slice(reading: string, { rows, deleted, next }: Collected): ArchiveSlice {
    const { sql } = this.#storage;
    const version = readVersion({ sql });
    const sequences = next === null ? readSequences(sql) : [];
    const cursor = next && JSON.stringify({ reading, at: next } satisfies Cursor);
    return { reading, version, schema: [], deleted, rows: [...rows, ...sequences], cursor };
  }

  #keep(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(), KEPT_MS);
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#reading = null;
    dropChanges(this.#storage.sql);
  }
}

const parseCursor = (json: string): Cursor => JSON.parse(json) as Cursor;

const LIMITS = { rows: 5_000, bytes: 1024 * 1024 };
/** Factor for the size of slices of changes, so that they overtake the writers. */
const CHANGES_FACTOR = 4;

type Position =
  | { readonly table: string; readonly key: readonly ArchiveValue[] }
  | { readonly changes: number };

type Collected = Pick<ArchiveSlice, "rows" | "deleted"> & { readonly next: Position | null };

function collectRows(
  sql: Sql,
  shapes: readonly TableShape[],
  after: Extract<Position, { readonly table: string }> | null,
  limits: typeof LIMITS,
): Collected {
  const rows: ArchivedRow[] = [];
  let [bytes, next] = [0, after];
  const first = after === null ? 0 : shapes.findIndex(({ name }) => name === after.table);
  for (const [index, shape] of shapes.slice(first).entries()) {
    const from = index === 0 ? (after?.key ?? null) : null;
    for (const { row, key, bytes: size } of rowsAfter(sql, shape, from)) {
      if (rows.length >= limits.rows || bytes >= limits.bytes) return { rows, deleted: [], next };
      rows.push(row);
      bytes += size;
      next = { table: shape.name, key };
    }
  }
  return { rows, deleted: [], next: { changes: 0 } };
}

function collectChanges(
  sql: Sql,
  shapes: readonly TableShape[],
  after: number,
  limits: typeof LIMITS,
): Collected {
  const rows: ArchivedRow[] = [];
  const deleted: ArchivedRow[] = [];
  let [bytes, last] = [0, after];
  forgetChanges(sql, after);
  for (const { number, table, key } of changesAfter(sql, after)) {
    const isFull = rows.length + deleted.length >= CHANGES_FACTOR * limits.rows;
    if (isFull || bytes >= CHANGES_FACTOR * limits.bytes) return { rows, deleted, next: { changes: last } };
    last = number;
    const shape = shapes.find(({ name }) => name === table);
    const found = shape && rowOf(sql, shape, key);
    if (found) rows.push(found.row);
    else deleted.push({ table, values: [...key] });
    bytes += found?.bytes ?? 0;
  }
  return { rows, deleted, next: null };
}
