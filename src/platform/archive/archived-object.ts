/** The way to an object that is archived: its stub as a backup sees it. */
import type { Module } from "../error-codes.ts";
import { AppError } from "../errors.ts";
import type { ArchivedObject, ArchiveRefusal, ArchiveRpc } from "./object-archive.ts";

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
