/** The epochs of a room: they reveal whether what a client has seen is still part of the room's history. */
import type { EpochTable } from "../../storage/storage-log.ts";

/** Clients of earlier epochs are reset. */
const MAX_EPOCHS = 1_000;

/**
 * An epoch begins with the first join or change after the room has started without sockets: so it does after its
 * storage was replaced by a backup, which knows nothing of the epochs that began since.
 */
export class Epochs {
  readonly #table: EpochTable;
  readonly #newId: () => string;
  /** True if sockets have survived the start of the room: what they were sent was not taken back. */
  #isContinued = false;
  /** The one that has begun since the start. */
  #begun: string | null = null;
  #current: string | null = null;

  constructor(table: EpochTable, newId: () => string) {
    this.#table = table;
    this.#newId = newId;
  }

  /** Sockets have survived the start of the room, so the latest epoch goes on. */
  continueLatest(): void {
    this.#isContinued = true;
  }

  /** The id of the current epoch, which begins after the change `lastSeq` if none has begun yet. */
  current(lastSeq: number): string {
    this.#current ??= this.#find() ?? this.#begin(lastSeq);
    return this.#current;
  }

  #find(): string | null {
    const latest = this.#table.latest();
    return this.#isContinued || latest === this.#begun ? latest : null;
  }

  #begin(lastSeq: number): string {
    this.#begun = this.#newId();
    this.#table.begin(this.#begun, lastSeq, MAX_EPOCHS);
    return this.#begun;
  }

  /** Whether the room made the change `seq` in this epoch, or before it. */
  includes(epoch: string, seq: number): boolean {
    const lastSeq = this.#table.lastSeqOf(epoch);
    return lastSeq !== null && seq <= lastSeq;
  }

  /** The current epoch as far as it is known without reading; null if it is not. */
  get known(): string | null {
    return this.#current;
  }

  /** Storage has been rolled back or cleared: of the current epoch, only what was known before that is known. */
  reset(known: string | null = null): void {
    this.#current = known;
  }
}
