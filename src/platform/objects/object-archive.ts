/** The port that archives the storage of a Durable Object, slice by slice, and restores it. */

import { AppError, type ErrorCode, type Module } from "@atrium/contract/errors.ts";
import type { ArchiveSlice } from "./archive-slice.ts";

/** Why an object does not take a slice: errors lose their class on the way to the caller. */
export interface ArchiveRefusal {
  readonly code: ErrorCode;
  readonly message: string;
}

export interface ArchiveRpc {
  archive(after: string | null): ArchiveSlice | Promise<ArchiveSlice>;
  restore(slice: ArchiveSlice): ArchiveRefusal | null | Promise<ArchiveRefusal | null>;
  finishRestore(): ArchiveRefusal | null | Promise<ArchiveRefusal | null>;
}

export interface ArchivedObject {
  /** Repeats are harmless; an unknown cursor begins a new reading. RATE_LIMITED during another backup's reading. */
  archive(after: string | null): Promise<ArchiveSlice>;
  /**
   * Writes a slice into an empty or restoring object, which refuses other calls until {@link
   * finishRestore}. Idempotent. CONFLICT for foreign content, missing slices or a newer version.
   */
  restore(slice: ArchiveSlice): Promise<void>;
  /** Migrates and opens the object, whose rows in D1 must exist. Idempotent. CONFLICT before the last slice. */
  finishRestore(): Promise<void>;
}

/** Opens the stub anew for each call, because it breaks with its object. */
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
