/** An archive of what a Durable Object stores, slice by slice, and the port through which it is made and restored. */
import { AppError, type ErrorCode, type Module } from "../errors.ts";

/** A value of a row, as JSON can hold it. */
export type ArchiveValue = string | number | null | { readonly base64: string };

/** A row by its table; the values are in the order of the table's columns. */
export interface ArchivedRow {
  readonly table: string;
  readonly values: readonly ArchiveValue[];
}

/** A table, an index or a trigger, by what creates it. */
export interface ArchivedPart {
  readonly type: "table" | "index" | "trigger";
  readonly name: string;
  readonly sql: string;
}

/**
 * A part of an archive: the slices of one reading, applied in their order, are what the object stored in the moment of
 * the last one. A slice is JSON, and has few MiB.
 */
export interface ArchiveSlice {
  /** Names the reading. A slice of another one than the slice before begins anew: what was collected is void. */
  readonly reading: string;
  /** The version of the object's schema. */
  readonly version: number;
  /** In the first slice of a reading; empty in all others, and for an object that stores nothing. */
  readonly schema: readonly ArchivedPart[];
  /** Rows that earlier slices may have, and that are gone: `values` is the primary key. They precede `rows`. */
  readonly deleted: readonly ArchivedRow[];
  /** Each replaces the row with its primary key, and rows that it is in conflict with. */
  readonly rows: readonly ArchivedRow[];
  /** What to ask the next slice with; null after the last one. */
  readonly cursor: string | null;
}

/** Why an object does not take a slice: errors lose their class on the way to the caller. */
export interface ArchiveRefusal {
  readonly code: ErrorCode;
  readonly message: string;
}

/** The RPC methods of an object whose storage can be archived. */
export interface ArchiveRpc {
  archive(after: string | null): ArchiveSlice | Promise<ArchiveSlice>;
  restore(slice: ArchiveSlice): ArchiveRefusal | null | Promise<ArchiveRefusal | null>;
  finishRestore(): ArchiveRefusal | null | Promise<ArchiveRefusal | null>;
}

/** One object, as a backup sees it. */
export interface ArchivedObject {
  /**
   * The slice after a cursor, and the first one after null. Asking twice with a cursor is harmless, with an old one too:
   * what is not known any more begins a new reading. RATE_LIMITED while another backup's later reading goes on.
   */
  archive(after: string | null): Promise<ArchiveSlice>;
  /**
   * Writes a slice into an object that stores nothing, or is being restored; slices of one reading in their order. The
   * same slice twice is harmless, and so is the whole archive once more after {@link finishRestore}. Until then the
   * object refuses everything else with RATE_LIMITED. A first slice of another reading begins anew. Throws CONFLICT when
   * the object stores something else, when slices are missing, or when a newer version of the service wrote them.
   */
  restore(slice: ArchiveSlice): Promise<void>;
  /**
   * Brings what was restored to the present schema, and opens the object: it goes on with what the archive owes, so its
   * rows in D1 have to be there. Idempotent. Throws CONFLICT before the last slice was written.
   */
  finishRestore(): Promise<void>;
}

/** An object by its stub: a new one for each call, as one breaks with its object. `module` is the part that refuses. */
export function archivedObject(module: Module, stub: () => ArchiveRpc): ArchivedObject {
  const accepted = (refusal: ArchiveRefusal | null): void => {
    if (refusal !== null) throw new AppError(module, refusal.code, refusal.message);
  };
  return {
    archive: async (after) => stub().archive(after),
    restore: async (slice) => accepted(await stub().restore(slice)),
    finishRestore: async () => accepted(await stub().finishRestore()),
  };
}
