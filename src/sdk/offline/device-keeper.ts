/** Keeps the stores and unsent writes of one client on the device, and brings them back when it starts. */

import type { ChangeStream } from "../client/connection/change-stream.ts";
import type { Claims } from "../client/connection/token.ts";
import type { DiscardedWrite, Written } from "../client/index.ts";
import type { ClientKeeper } from "../client/offline.ts";
import type { Stores } from "../client/stores/stores.ts";
import type { KeptBatch, QueuedWrite } from "../client/stores/waiting-writes.ts";
import { AtriumError, type Fault } from "../core/error.ts";
import type { Runtime } from "../core/runtime.ts";
import { Adoption } from "./adoption.ts";
import type { KeeperOptions } from "./keeper-options.ts";
import { KeptWrites } from "./kept-writes.ts";
import { Locks } from "./locks.ts";
import { continueWith, showStores } from "./restore-kept.ts";
import type { KeptWrite, OfflineRoom, StoresChange } from "./storage.ts";
import { type KeptClient, StoresRecorder } from "./stores-recorder.ts";

/** A client does not wait longer than this for what was kept. */
const OPEN_TIMEOUT_MS = 5_000;
/** Batches are not sent before they are kept, so a storage that hangs must not hold them up forever. */
const STORE_TIMEOUT_MS = 60_000;
/** How long a client waits for the end of another one: after a reload, the page before can take a moment to end. */
const PATIENCE_MS = 500;
/** Changes of the room are stored together, at most this long after the first. */
const STORE_DELAY_MS = 500;

const EMPTY: StoresChange = { seq: 0, stores: [], replaced: "all", put: [], removed: [] };
const UNKNOWN: Fault = {
  code: "OUTCOME_UNKNOWN",
  module: "Client",
  message:
    "This write was sent more than 23 h ago and may have been carried out: compare the store, and write again",
};

/** What a client uses from its start until its connection ends. */
interface Use {
  readonly client: KeptClient;
  readonly room: OfflineRoom;
  readonly locks: Locks;
  readonly stores: StoresRecorder;
}

export class DeviceKeeper implements ClientKeeper {
  #resolveOpened = () => {};
  readonly opened = new Promise<void>((resolve) => {
    this.#resolveOpened = resolve;
  });
  readonly #base: string;
  readonly #runtime: Runtime;
  readonly #options: KeeperOptions;
  #writes = new KeptWrites();
  #use: Use | null = null;
  /** Identifies the current start; null if the client has to be opened. */
  #start: object | null = null;
  #closing: Promise<void> = Promise.resolve();
  #hasFailed = false;
  #isFollowing = false;
  #hasAnnounced = false;
  #stopListening = () => {};
  #stored: Promise<void> = Promise.resolve();
  #scheduled: Promise<void> | null = null;
  #cancelTimer: (() => void) | null = null;

  constructor(base: string, runtime: Runtime, options: KeeperOptions) {
    this.#base = base;
    this.#runtime = runtime;
    this.#options = options;
  }

  open(claims: Claims, changes: ChangeStream, stores: Stores): Promise<void> {
    const client = { claims, changes, stores };
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
    const fail = (reason: string) => this.#start === start && this.#fail(reason);
    const cancel = this.#runtime.after(OPEN_TIMEOUT_MS, () => fail("it did not open in time"));
    await this.#begin(client, start).catch((error: unknown) => fail(String(error)));
    cancel();
    this.#resolveOpened();
  }

  async #begin(client: KeptClient, start: object): Promise<void> {
    const { accountId, roomId, userId } = client.claims;
    const scope = [this.#base, accountId, roomId, userId].join(" ");
    const writes = this.#writes;
    let watch = (_writer: string) => {};
    const room = await this.#options.storage.open(scope, {
      closed: (reason) => this.#start === start && this.#fail(reason, true),
      announced: (writer) => watch(writer),
    });
    const locks = new Locks(room);
    try {
      const adoption = new Adoption(
        room,
        locks,
        (kept) => this.#writes === writes && this.#adopt(client, kept),
      );
      await adoption.begin(writes.writer);
      const patience = new Promise<false>((resolve) => {
        this.#runtime.after(PATIENCE_MS, () => resolve(false));
      });
      const leading = locks.take("stores");
      const isLeader = await Promise.race([leading, patience]);
      const kept = await room.readStores();
      if (this.#start !== start) throw new Error("the client has stopped");
      const stores = new StoresRecorder(client, this.#options.includes);
      this.#use = { client, room, locks, stores };
      // A client that has left and joins again knows more than was kept.
      const isFirst = client.changes.seq === undefined;
      if (isFirst && kept !== null) showStores(client, kept, this.#options.includes);
      if (isLeader) stores.lead(isFirst ? (kept?.stores ?? []) : null);
      else void this.#lead(leading, room, stores);
      watch = (writer) => void adoption.watch(writer);
      await adoption.adoptFromGone(patience);
    } catch (error) {
      if (this.#start !== start || this.#use === null) {
        locks.end();
        room.close();
      }
      throw error;
    }
    this.#follow(client);
    void this.#schedule();
  }

  /** Begins to store the stores when the client that does so now is gone. */
  async #lead(leading: Promise<boolean>, room: OfflineRoom, stores: StoresRecorder): Promise<void> {
    if (!(await leading)) return;
    // A storage that cannot be read any more is reported by the next change.
    const kept = await room.readStores().catch(() => null);
    stores.lead(null, kept?.seq);
    this.#storeSoon();
  }

  /** Keeps the number of the latest change fresh, also while no store changes. */
  #follow({ changes }: KeptClient): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    changes.onJoined(() => {
      this.#use?.stores.joined();
      this.#storeSoon();
      return undefined;
    });
  }

  #adopt(client: KeptClient, kept: readonly KeptWrite[]): void {
    const replicaOf = (name: string) => client.stores.get(name).replica;
    const { batches, waiting, expired } = this.#writes.adopt(kept, replicaOf, this.#runtime.date());
    continueWith(client, batches, waiting);
    for (const write of expired) this.#reject(client, write, new AtriumError(UNKNOWN));
    void this.#schedule();
  }

  #reject(client: KeptClient, write: DiscardedWrite, error: AtriumError): void {
    const { store, key, action, value } = write;
    const { roomId } = client.claims;
    // What the application throws is an error of its own.
    queueMicrotask(() => this.#options.onRejected({ roomId, store, key, action, value, error }));
  }

  confirmed(store: string, key?: string): void {
    if (this.#use === null) return;
    this.#use.stores.confirmed(store, key);
    this.#storeSoon();
  }

  queued(write: QueuedWrite): void {
    if (this.#hasFailed) return;
    this.#writes.queued(write);
    void this.#schedule();
  }

  sealed(batch: KeptBatch): Promise<void> {
    this.#writes.sealed(batch, this.#runtime.date());
    return this.#schedule();
  }

  settled(write: QueuedWrite, outcome: Written | AtriumError): void {
    const isAdopted = this.#writes.settled(write);
    const { key, action, value, target } = write;
    if (isAdopted && outcome instanceof AtriumError && this.#use !== null)
      this.#reject(this.#use.client, { store: target.name, key, action, value }, outcome);
    void this.#schedule();
  }

  flush(): void {
    void this.#store(true);
  }

  /** Stores what the calls of one turn have changed together, including the batches that are made of it. */
  #schedule(): Promise<void> {
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
      this.flush();
    });
  }

  /** With a settled write, what it has changed is stored as well. */
  #store(withStores: boolean): Promise<void> {
    if (this.#use === null) return Promise.resolve();
    const { room, stores } = this.#use;
    const { writes, settled } = this.#writes.take();
    const change = withStores || settled.length > 0 ? stores.take() : null;
    if (writes.length + settled.length === 0 && change === null) return this.#stored;
    const { writer } = this.#writes;
    const fail = (reason: string) => this.#use?.room === room && this.#fail(reason);
    this.#stored = new Promise((resolve) => {
      const cancel = this.#runtime.after(STORE_TIMEOUT_MS, () => {
        fail("it does not answer");
        resolve();
      });
      room
        .apply({ writes, settled, stores: change })
        .then(() => this.#announce(room, writes, writer))
        .catch((error: unknown) => fail(String(error)))
        .finally(() => {
          cancel();
          resolve();
        });
    });
    return this.#stored;
  }

  #announce(room: OfflineRoom, writes: readonly KeptWrite[], writer: string): void {
    if (this.#hasAnnounced || writes.length === 0) return;
    this.#hasAnnounced = true;
    room.announce(writer);
  }

  /** From now on the client works in memory only. */
  #fail(reason: string, isGone = false): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const use = this.#use;
    const settled = this.#writes.ids;
    this.#end();
    this.#resolveOpened();
    if (use !== null) {
      // What stays stored would be sent by another client too, so its lock stays taken if it cannot be removed.
      const removed = isGone ? Promise.resolve() : use.room.apply({ writes: [], settled, stores: null });
      void removed
        .then(
          () => use.locks.end(),
          () => {},
        )
        .then(() => use.room.close());
    }
    const message = `Nothing more is kept on this device, and the client goes on in memory: ${reason}`;
    const error = new AtriumError({ code: "STORAGE_FAILED", module: "Client", message });
    queueMicrotask(() => this.#options.onError(error));
  }

  stopped(fault: Fault): boolean {
    const use = this.#use;
    const isGone = fault.code === "NOT_FOUND";
    if (use !== null) {
      this.flush();
      const settled = this.#writes.ids;
      const stored = isGone ? use.room.apply({ writes: [], settled, stores: EMPTY }) : this.#stored;
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
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#use = null;
    this.#start = null;
    this.#hasAnnounced = false;
    this.#writes = new KeptWrites();
  }
}
