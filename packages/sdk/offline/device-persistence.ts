/** Keeps the stores and unsent writes of one client on the device, until its end or a failure. */
import { NO_ACCESS } from "@atrium/contract/no-access.ts";
import type { Written } from "../client/index.ts";
import type { KeptClient, OfflinePersistence } from "../client/offline.ts";
import type { KeptBatch, QueuedWrite } from "../client/stores/waiting-writes.ts";
import { AtriumError, type Fault } from "../core/error.ts";
import { Deferred, type Runtime } from "../core/runtime.ts";
import { ChangeRecorder, type PersistenceOptions } from "./change-recorder.ts";
import { Locks, OrphanedWriteRecovery } from "./orphaned-write-recovery.ts";
import { OtherClientWrites } from "./other-client-writes.ts";
import type { KeptEntry, KeptStores, OfflineRoom, StoresChange } from "./storage.ts";
import { StoresRecorder } from "./stores-recorder.ts";

const OPEN_DELAY_MS = 5_000;
const OPEN_TIMEOUT_MS = 60_000;
/** The wait for the end of another client: a reloaded page can take a moment to end. */
const PATIENCE_MS = 500;

const EMPTY: StoresChange = { seq: 0, stores: [], replaced: "all", put: [], removed: [] };

interface Use {
  readonly room: OfflineRoom;
  readonly locks: Locks;
  readonly others: OtherClientWrites;
}

export class DevicePersistence implements OfflinePersistence {
  readonly #shown = new Deferred();
  readonly #opened = new Deferred();
  readonly shown = this.#shown.promise;
  readonly opened = this.#opened.promise;
  readonly #base: string;
  readonly #runtime: Runtime;
  readonly #options: PersistenceOptions;
  #recorder: ChangeRecorder;
  #use: Use | null = null;
  /** The current start; null if the client has to be opened. */
  #start: object | null = null;
  #closing: Promise<void> = Promise.resolve();
  #sealed: Promise<void> = Promise.resolve();
  #hasFailed = false;
  #isFollowing = false;
  #stopListening = () => {};

  constructor(base: string, runtime: Runtime, options: PersistenceOptions) {
    this.#base = base;
    this.#runtime = runtime;
    this.#options = options;
    this.#recorder = this.#newRecorder();
  }

  #newRecorder(): ChangeRecorder {
    return new ChangeRecorder(this.#runtime, this.#options, (cause) => this.#fail(cause));
  }

  open(client: KeptClient): Promise<void> {
    if (this.#start === null && !this.#hasFailed) {
      const start = {};
      this.#start = start;
      this.#stopListening = this.#runtime.listen("pagehide", () => this.flush());
      void this.#closing.then(() => this.#beginInTime(client, start));
    }
    return this.opened;
  }

  async #beginInTime(client: KeptClient, start: object): Promise<void> {
    if (this.#start !== start) return;
    const fail = (cause: unknown) => this.#start === start && this.#fail(cause);
    const cancels = [
      this.#runtime.after(OPEN_DELAY_MS, this.#opened.resolve),
      this.#runtime.after(OPEN_TIMEOUT_MS, () => fail("it did not open in time")),
    ];
    await this.#begin(client, start).catch(fail);
    for (const cancel of cancels) cancel();
    this.#settleOpening();
  }

  #settleOpening(): void {
    this.#shown.resolve();
    this.#opened.resolve();
  }

  async #begin(client: KeptClient, start: object): Promise<void> {
    const scope = `${this.#base} ${client.claims.scope}`;
    const recorder = this.#recorder;
    let announced = (_message: string) => {};
    const room = await this.#options.storage.open(scope, {
      closed: (reason) => this.#start === start && this.#fail(reason, true),
      announced: (message) => announced(message),
    });
    const locks = new Locks(room);
    const others = new OtherClientWrites(client, room, this.#runtime);
    try {
      const recovery = new OrphanedWriteRecovery(room, locks, (writer, kept) => {
        recorder.recover(kept);
        others.exclude(writer);
      });
      others.exclude(recorder.writes.writer);
      await recovery.begin(recorder.writes.writer);
      const patience = new Promise<false>((resolve) => {
        this.#runtime.after(PATIENCE_MS, () => resolve(false));
      });
      const leading = locks.take("stores");
      const isLeader = await Promise.race([leading, patience]);
      const kept = await room.readStores();
      if (this.#start !== start) throw new Error("the client has stopped");
      const stores = new StoresRecorder(client, this.#options.includes);
      this.#use = { room, locks, others };
      recorder.begin(client, room, stores);
      // A client that joins again knows more than the storage.
      const isFirst = client.changeStream.seq === undefined;
      if (isFirst && kept !== null) showStores(client, kept, this.#options.includes);
      if (isLeader) stores.lead(isFirst ? (kept?.stores ?? []) : null);
      else void recorder.lead(leading);
      announced = (message) => {
        const [writer = "", seq] = message.split(" ");
        void recovery.watch(writer);
        others.announced(Number(seq ?? 0));
      };
      await Promise.all([recovery.recoverAll(patience), others.read()]);
    } catch (error) {
      if (this.#start !== start || this.#use === null) {
        locks.end();
        room.close();
      }
      throw error;
    }
    this.#follow(client);
    void recorder.scheduleNext();
  }

  /** Keeps the latest sequence number fresh, also while no store changes. */
  #follow({ changeStream }: KeptClient): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    changeStream.onJoined(({ changes }) => {
      this.#recorder.joined();
      this.#use?.others.joined(changes === null);
    });
  }

  confirmed(store: string, key?: string): void {
    this.#recorder.confirmed(store, key);
    this.#use?.others.check();
  }

  queued(write: QueuedWrite): void {
    if (!this.#hasFailed) this.#recorder.queued(write);
  }

  sealed(batch: KeptBatch): Promise<void> {
    // A batch after a failure waits only for earlier batches.
    this.#sealed = Promise.all([this.#sealed, this.#recorder.sealed(batch)]).then(() => {});
    return this.#sealed;
  }

  settled(write: QueuedWrite, outcome: Written | AtriumError): void {
    this.#recorder.settled(write, outcome);
  }

  flush(): boolean {
    void this.#recorder.flush();
    return this.#use !== null;
  }

  /** Makes the client work in memory only from now on. */
  #fail(cause: unknown, isGone = false): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const use = this.#use;
    const settled = this.#recorder.writes.ids;
    this.#end();
    this.#settleOpening();
    if (use !== null) {
      // Another client would send stored writes too, so the lock stays taken if they cannot be removed.
      const removed = isGone ? Promise.resolve() : use.room.apply({ writes: [], settled, stores: null });
      void removed
        .then(
          () => use.locks.end(),
          () => {},
        )
        .then(() => use.room.close());
    }
    const message = `Nothing more is kept on this device, and the client goes on in memory: ${String(cause)}`;
    const fault = { code: "STORAGE_FAILED", module: "Client", message };
    const error = new AtriumError(cause instanceof Error ? { ...fault, cause } : fault);
    queueMicrotask(() => this.#options.onError(error));
  }

  stopped(fault: Fault): boolean {
    const use = this.#use;
    // The room was deleted, or the user has lost access to it.
    const isGone = fault.code === "NOT_FOUND" || fault.message === NO_ACCESS;
    if (use !== null) {
      const flushed = this.#recorder.flush();
      const settled = this.#recorder.writes.ids;
      const stored = isGone ? use.room.apply({ writes: [], settled, stores: EMPTY }) : flushed;
      this.#closing = stored
        .catch(() => {})
        .then(() => {
          use.room.close();
          use.locks.end();
        });
    }
    this.#end();
    return use !== null && !isGone;
  }

  #end(): void {
    this.#stopListening();
    this.#use?.others.end();
    this.#recorder.end();
    this.#recorder = this.#newRecorder();
    this.#use = null;
    this.#start = null;
  }
}

/** Shows the user and opens the included kept stores; the client then catches up from their change. */
function showStores(
  { changeStream, claims, stores, users }: KeptClient,
  kept: KeptStores,
  includes: (store: string) => boolean,
): void {
  if (kept.user) {
    claims.userId ||= kept.user.id;
    users.restore(kept.user);
  }
  const names = kept.stores.filter(includes);
  const opened = new Map(names.map((name): [string, [string, KeptEntry][]] => [name, []]));
  if (opened.size > 0) changeStream.continueFrom(kept.seq, kept.epoch);
  for (const entry of kept.entries) opened.get(entry.store)?.push([entry.key, entry]);
  for (const [name, entries] of opened) stores.get(name).replica.open(entries);
}
