/** Shows unanswered writes of the user's other clients as if they were written here. */
import type { KeptClient } from "../client/offline.ts";
import type { Replica } from "../client/stores/replica.ts";
import type { QueuedWrite } from "../client/stores/waiting-writes.ts";
import type { Runtime } from "../core/runtime.ts";
import type { KeptWrite, OfflineRoom } from "./storage.ts";

/** Announcements are read together, for at most a fifth of the time. */
const READ_DELAY_MS = 100;
const READ_PAUSES = 4;
const CHECK_DELAY_MS = 500;

interface Shown {
  writer: string;
  readonly replica: Replica;
  readonly write: QueuedWrite;
  /** The version of the room's entry at the first display. */
  readonly version: number;
}

const idOf = ({ origin, writer, number }: KeptWrite): string =>
  origin ? `${origin.writer} ${origin.number}` : `${writer} ${number}`;

export class OtherClientWrites {
  readonly #client: KeptClient;
  readonly #room: OfflineRoom;
  readonly #runtime: Runtime;
  /** IDs of this client, and of clients whose writes it continues with. */
  readonly #own = new Set<string>();
  readonly #shown = new Map<string, Shown>();
  /** Settled writes, until this client has received the change of this number. */
  readonly #settled = new Map<Shown, number>();
  #seq = 0;
  #reading: Promise<void> = Promise.resolve();
  #pauseMs = READ_DELAY_MS;
  #cancelRead: (() => void) | null = null;
  #cancelCheck = () => {};
  #hasEnded = false;

  constructor(client: KeptClient, room: OfflineRoom, runtime: Runtime) {
    this.#client = client;
    this.#room = room;
    this.#runtime = runtime;
  }

  /** The client itself shows the writes of this writer from now on. */
  exclude(writer: string): void {
    this.#own.add(writer);
    for (const [id, shown] of this.#shown) {
      if (shown.writer !== writer) continue;
      this.#shown.delete(id);
      this.#hide(shown);
    }
  }

  /** The kept writes of another client changed, and were answered up to `seq`. */
  announced(seq: number): void {
    this.#seq = Math.max(this.#seq, seq);
    this.#cancelRead ??= this.#runtime.after(this.#pauseMs, () => {
      this.#cancelRead = null;
      void this.read();
    });
  }

  read(): Promise<void> {
    this.#reading = this.#reading.then(async () => {
      const begunAt = this.#runtime.now();
      // The next change reports a storage that cannot be read.
      const kept = await this.#room.readWrites().catch(() => null);
      if (kept === null || this.#hasEnded) return;
      this.#show(kept.filter(({ writer }) => !this.#own.has(writer)));
      this.#pauseMs = Math.max(READ_DELAY_MS, READ_PAUSES * (this.#runtime.now() - begunAt));
    });
    return this.#reading;
  }

  #show(kept: readonly KeptWrite[]): void {
    for (const each of kept) this.#showOne(each);
    const ids = new Set(kept.map(idOf));
    for (const [id, shown] of this.#shown) {
      if (ids.has(id)) continue;
      this.#shown.delete(id);
      this.#settled.set(shown, this.#seq);
    }
    this.check();
  }

  /** A new or changed write goes on top. */
  #showOne(kept: KeptWrite): void {
    const { writer, store, key, action, value } = kept;
    const known = this.#shown.get(idOf(kept));
    if (known) known.writer = writer;
    if (known?.write.action === action && JSON.stringify(known.write.value) === JSON.stringify(value)) return;
    const { replica } = this.#client.stores.get(store);
    const write = known?.write ?? replica.newWrite(kept, null);
    write.action = action;
    write.value = value;
    const version = known?.version ?? replica.entries.getConfirmed(key).version;
    this.#shown.set(idOf(kept), { writer, replica, write, version });
    replica.show(write, "remote");
  }

  /** `isFresh` means that changes may be numbered anew. */
  joined(isFresh: boolean): void {
    if (isFresh) {
      this.#seq = 0;
      for (const shown of this.#settled.keys()) this.#settled.set(shown, 0);
    }
    this.check();
  }

  /** Hides a settled write once its outcome is visible, so that nothing flickers. */
  check(): void {
    if (this.#settled.size === 0) return;
    this.#cancelCheck();
    const { seq = -1 } = this.#client.changeStream;
    for (const [shown, until] of this.#settled) {
      if (seq < until || shown.replica.state === "stale") continue;
      this.#settled.delete(shown);
      this.#hide(shown);
    }
    if (this.#settled.size > 0) this.#cancelCheck = this.#runtime.after(CHECK_DELAY_MS, () => this.check());
  }

  /** The same entry as before means that the write was refused. */
  #hide({ replica, write, version }: Shown): void {
    replica.settle(write, replica.entries.getConfirmed(write.key).version === version);
  }

  end(): void {
    this.#hasEnded = true;
    this.#cancelRead?.();
    this.#cancelCheck();
    for (const shown of [...this.#shown.values(), ...this.#settled.keys()]) this.#hide(shown);
    this.#shown.clear();
    this.#settled.clear();
  }
}
