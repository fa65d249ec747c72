/** Stores a client's changes on the device: unsent writes each turn, and stores a moment later. */
import type { DiscardedWrite, Written } from "../client/index.ts";
import type { KeptClient } from "../client/offline.ts";
import type { KeptBatch, QueuedWrite } from "../client/stores/waiting-writes.ts";
import { AtriumError, type Fault } from "../core/error.ts";
import type { Runtime } from "../core/runtime.ts";
import { KeptWrites } from "./kept-writes.ts";
import type { KeptWrite, OfflineRoom, OfflineStorage } from "./storage.ts";
import type { StoresRecorder } from "./stores-recorder.ts";

/** A write of an earlier page that was refused, or whose outcome is unknown. */
export interface RejectedWrite extends DiscardedWrite {
  readonly roomId: string;
  readonly error: AtriumError;
}

export interface PersistenceOptions {
  readonly storage: OfflineStorage;
  readonly includes: (store: string) => boolean;
  readonly onRejected: (write: RejectedWrite) => void;
  readonly onError: (error: AtriumError) => void;
}

/** A batch is sent once it is kept, so a hanging storage must not delay it forever. */
const STORE_TIMEOUT_MS = 60_000;
/** The longest wait of a change of the room, so that changes are stored together. */
const STORE_DELAY_MS = 500;

const UNKNOWN: Fault = {
  code: "OUTCOME_UNKNOWN",
  module: "Client",
  message:
    "This write was sent more than 23 h ago and may have been carried out: compare the store, and write again",
};

interface Recorded {
  readonly client: KeptClient;
  readonly room: OfflineRoom;
  readonly stores: StoresRecorder;
}

/** Collects writes from its creation, stores them from `begin`, and does nothing more after `end`. */
export class ChangeRecorder {
  readonly writes = new KeptWrites();
  readonly #runtime: Runtime;
  readonly #options: PersistenceOptions;
  readonly #fail: (cause: unknown) => void;
  #recorded: Recorded | null = null;
  #answeredSeq = 0;
  #stored: Promise<void> = Promise.resolve();
  #scheduled: Promise<void> | null = null;
  #cancelTimer: (() => void) | null = null;

  constructor(runtime: Runtime, options: PersistenceOptions, fail: (cause: unknown) => void) {
    this.#runtime = runtime;
    this.#options = options;
    this.#fail = fail;
  }

  /** Collected changes are stored with the next change, or by `scheduleNext`. */
  begin(client: KeptClient, room: OfflineRoom, stores: StoresRecorder): void {
    this.#recorded = { client, room, stores };
  }

  end(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#recorded = null;
  }

  /** Begins to store the stores once `leading` settles: the client that stores them is gone. */
  async lead(leading: Promise<boolean>): Promise<void> {
    if (this.#recorded === null) return;
    const { room, stores } = this.#recorded;
    if (!(await leading)) return;
    // The next change reports a storage that cannot be read.
    const kept = await room.readStores().catch(() => null);
    stores.lead(null, kept?.seq);
    this.#storeSoon();
  }

  recover(kept: readonly KeptWrite[]): void {
    if (this.#recorded === null) return;
    const { client } = this.#recorded;
    const replicaOf = (name: string) => client.stores.get(name).replica;
    const { batches, waiting, expired } = this.writes.recover(kept, replicaOf, this.#runtime.date());
    const writes = [...batches.flatMap((batch) => batch.writes), ...waiting];
    // The earliest write is the lowest.
    for (const write of writes.reverse()) replicaOf(write.target.name).show(write, "resynced", true);
    client.stores.queue.restore(batches, waiting);
    for (const write of expired) this.#reject(client, write, new AtriumError(UNKNOWN));
    void this.scheduleNext();
  }

  #reject(client: KeptClient, write: DiscardedWrite, error: AtriumError): void {
    const { store, key, action, value } = write;
    const [id, customId] = client.claims.room;
    const roomId = customId ?? id;
    // Errors of the application are its own.
    queueMicrotask(() => this.#options.onRejected({ roomId, store, key, action, value, error }));
  }

  confirmed(store: string, key?: string): void {
    if (this.#recorded === null) return;
    this.#recorded.stores.confirmed(store, key);
    this.#storeSoon();
  }

  joined(): void {
    this.#recorded?.stores.joined();
    this.#storeSoon();
  }

  queued(write: QueuedWrite): void {
    this.writes.queued(write);
    void this.scheduleNext();
  }

  sealed(batch: KeptBatch): Promise<void> {
    this.writes.sealed(batch, this.#runtime.date());
    return this.scheduleNext();
  }

  settled(write: QueuedWrite, outcome: Written | AtriumError): void {
    const isRecovered = this.writes.settled(write);
    if (!(outcome instanceof AtriumError)) this.#answeredSeq = Math.max(this.#answeredSeq, outcome.seq);
    const { key, action, value, target } = write;
    if (isRecovered && outcome instanceof AtriumError && this.#recorded !== null)
      this.#reject(this.#recorded.client, { store: target.name, key, action, value }, outcome);
    void this.scheduleNext();
  }

  /** Stores the changes and batches of one turn together. */
  scheduleNext(): Promise<void> {
    this.#scheduled ??= new Promise((resolve) => {
      queueMicrotask(() =>
        queueMicrotask(() => {
          this.#scheduled = null;
          resolve(this.#store(false));
        }),
      );
    });
    return this.#scheduled;
  }

  #storeSoon(): void {
    this.#cancelTimer ??= this.#runtime.after(STORE_DELAY_MS, () => {
      this.#cancelTimer = null;
      void this.flush();
    });
  }

  /** Begins to store everything at once. Settles when it is stored, or has failed. */
  flush(): Promise<void> {
    return this.#store(true);
  }

  #store(withStores: boolean): Promise<void> {
    if (this.#recorded === null) return Promise.resolve();
    const { room, stores } = this.#recorded;
    const { writes, settled } = this.writes.take();
    const change = withStores || settled.length > 0 ? stores.take() : null;
    if (writes.length + settled.length === 0 && change === null) return this.#stored;
    const fail = (reason: string) => this.#recorded !== null && this.#fail(reason);
    this.#stored = new Promise((resolve) => {
      const cancel = this.#runtime.after(STORE_TIMEOUT_MS, () => {
        fail("it does not answer");
        resolve();
      });
      room
        .apply({ writes, settled, stores: change })
        .then(() => {
          if (writes.length + settled.length > 0) room.announce(`${this.writes.writer} ${this.#answeredSeq}`);
        })
        .catch(fail)
        .finally(() => {
          cancel();
          resolve();
        });
    });
    return this.#stored;
  }
}
