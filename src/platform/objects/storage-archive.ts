/** Archives and restores the storage of a Durable Object, which stays closed until it is restored. */

import { DurableObject } from "cloudflare:workers";
import { ArchiveReader } from "./archive-reader.ts";
import type { ArchiveSlice } from "./archive-slice.ts";
import type { ArchiveRefusal, ArchiveRpc } from "./object-archive.ts";
import { createTables, openTables, type Schema, versionOf } from "./object-tables.ts";
import { endRestore, readRestoring, recordRestored, refusalOf, writeSlice } from "./restore-store.ts";
import { beingRestored } from "./rpc.ts";

interface ArchivePorts {
  readonly storage: DurableObjectStorage;
  readonly schema: Schema;
  flush?(): void;
  /** A restore has begun: nothing is to go on that memory knows of. */
  close?(): void;
  /**
   * Runs in the completing transaction, also for an object that stored nothing: ends state that cannot outlast
   * the archive, and skips the numbers of the lost history.
   */
  settle?(): void;
  /** Called after storage was replaced: reads it anew, and plans its alarm. */
  open(): void;
}

export class StorageArchive {
  readonly reader: ArchiveReader;
  readonly #ports: ArchivePorts;
  #isRestoring: boolean;

  constructor(ports: ArchivePorts) {
    this.#ports = ports;
    this.reader = new ArchiveReader(ports.storage);
    this.#isRestoring = readRestoring(ports.storage.sql) !== null;
  }

  get isRestoring(): boolean {
    return this.#isRestoring;
  }

  /** Throws an error for callers to retry, until the object is restored. */
  requireOpen(): void {
    if (this.#isRestoring) throw beingRestored();
  }

  read(after: string | null): ArchiveSlice {
    this.requireOpen();
    this.#ports.flush?.();
    return this.reader.read(after);
  }

  /** Returns why the slice is refused. */
  restore(slice: ArchiveSlice): ArchiveRefusal | null {
    const { storage, schema } = this.#ports;
    if (slice.version > versionOf(schema)) return newer(slice.version, versionOf(schema));
    const refusal = storage.transactionSync(() => {
      const found = refusalOf(storage.sql, slice);
      if (found !== null) return found;
      if (!this.#isRestoring) this.#ports.close?.();
      writeSlice(storage.sql, slice);
      return null;
    });
    if (refusal === null) this.#isRestoring = true;
    return refusal === "restored" ? null : refusal;
  }

  finish(): ArchiveRefusal | null {
    const { storage, schema } = this.#ports;
    const restoring = readRestoring(storage.sql);
    if (restoring === null) return null;
    if (!restoring.isWhole) return INCOMPLETE;
    storage.transactionSync(() => {
      endRestore(storage.sql);
      if (!openTables(storage, schema)) createTables(storage, schema);
      recordRestored(storage.sql, restoring.reading);
      this.#ports.settle?.();
    });
    this.#isRestoring = false;
    this.#ports.open();
    return null;
  }

  /** Deletes the remains of an unfinished restore, the alarm included; false when there are none. */
  async discard(): Promise<boolean> {
    if (!this.#isRestoring) return false;
    await this.#ports.storage.deleteAll();
    this.#isRestoring = false;
    this.#ports.open();
    return true;
  }
}

const INCOMPLETE: ArchiveRefusal = {
  code: "CONFLICT",
  message: "The archive was not restored to its last slice; restore the rest of it",
};

const newer = (version: number, present: number): ArchiveRefusal => ({
  code: "CONFLICT",
  message: `The archive was written by a newer version of the service (tables of version ${version}, here ${present}); upgrade the service, then restore it`,
});

/** The RPC methods of an object that backups and moves copy. */
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
