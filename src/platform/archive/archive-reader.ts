/** Reads the archive of an object's database while it goes on: slice by slice, and as it is in one moment at the end. */
import { dropChanges } from "../objects/archive-tables.ts";
import { readVersion } from "../objects/object-tables.ts";
import { beingArchived } from "../objects/rpc.ts";
import { countTriggers, noteChanges } from "./change-store.ts";
import { type Collected, collectChanges, collectRows, LIMITS, type Position } from "./collect.ts";
import type { ArchiveSlice } from "./object-archive.ts";
import { partsOf, readSequences, shapeOf, type TableShape } from "./row-store.ts";

/** A backup that has not asked for so long has died: nothing is noted for it any more. */
const KEPT_MS = 60_000;

/** Where the next slice of a reading begins. */
interface Cursor {
  readonly reading: string;
  readonly at: Position;
}

/** A reading of more than one slice. */
interface Reading {
  readonly id: string;
  readonly shapes: readonly TableShape[];
  readonly triggers: number;
}

/**
 * What fits into one slice is read in one turn. Of anything larger, all rows are read in the order of their keys, while
 * triggers note what changes; then what has changed, and what has changed meanwhile, until a slice has the rest of it.
 * The object is as it was at that moment, and no write waits. It ends as soon as changes come more slowly than slices.
 */
export class ArchiveReader {
  limits = LIMITS;
  readonly #storage: DurableObjectStorage;
  #reading: Reading | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Throws {@link beingArchived} for the cursor of a reading while a later one goes on: neither would ever end. */
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

/** As {@link ArchiveReader} wrote it. */
const parseCursor = (json: string): Cursor => JSON.parse(json) as Cursor;
