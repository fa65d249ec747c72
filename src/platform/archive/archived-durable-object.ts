/** What every object that is archived has in common: the calls of {@link ArchiveRpc}. */
import { DurableObject } from "cloudflare:workers";
import type { ArchiveRefusal, ArchiveRpc, ArchiveSlice } from "./object-archive.ts";
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
