/** What every object that is archived has in common: the calls of {@link ArchiveRpc}, and the way to them. */
import { DurableObject } from "cloudflare:workers";
import type { Module } from "../error-codes.ts";
import { AppError } from "../errors.ts";
import type { ArchivedObject, ArchiveRefusal, ArchiveRpc, ArchiveSlice } from "../object-archive.ts";
import type { StorageArchive } from "./storage-archive.ts";

/** Its subclass creates the archive of its storage. */
export abstract class ArchivedDurableObject<Env> extends DurableObject<Env> implements ArchiveRpc {
  abstract readonly archived: StorageArchive;

  archive(after: string | null): ArchiveSlice {
    return this.archived.read(after);
  }

  restore(slice: ArchiveSlice): ArchiveRefusal | null {
    return this.archived.restore(slice);
  }

  finishRestore(): ArchiveRefusal | null {
    return this.archived.finish();
  }
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
