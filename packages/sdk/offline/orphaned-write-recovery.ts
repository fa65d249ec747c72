/** Recovers the kept writes of clients that are gone. A living client holds its lock. */
import type { KeptWrite, OfflineRoom } from "./storage.ts";

/** The locks that one client holds until its end. */
export class Locks {
  readonly #room: OfflineRoom;
  readonly #ending = new AbortController();
  readonly #releases: (() => void)[] = [];

  constructor(room: OfflineRoom) {
    this.#room = room;
  }

  /** Waits for a lock until the client ends. Returns whether the client has it. */
  async take(name: string): Promise<boolean> {
    const { signal } = this.#ending;
    const release = await this.#room.lock(name, signal);
    if (release === null) return false;
    if (signal.aborted) release();
    else this.#releases.push(release);
    return !signal.aborted;
  }

  end(): void {
    this.#ending.abort();
    for (const release of this.#releases.splice(0)) release();
  }
}

const lockOf = (writer: string): string => `writer ${writer}`;

export class OrphanedWriteRecovery {
  readonly #room: OfflineRoom;
  readonly #locks: Locks;
  readonly #recover: (writer: string, writes: readonly KeptWrite[]) => void;
  /** IDs of this client, and of clients whose writes it has or waits for. */
  readonly #known = new Set<string>();

  /** `recover` receives the writes of a client that is gone, exclusively. */
  constructor(
    room: OfflineRoom,
    locks: Locks,
    recover: (writer: string, writes: readonly KeptWrite[]) => void,
  ) {
    this.#room = room;
    this.#locks = locks;
    this.#recover = recover;
  }

  /** Takes the lock of this client, before it keeps any write. */
  async begin(writer: string): Promise<void> {
    this.#known.add(writer);
    if (!(await this.#locks.take(lockOf(writer)))) throw new Error("the lock of this client cannot be had");
  }

  /** Waits for the end of all other clients. Settles when the writes of clients that are gone are recovered. */
  async recoverAll(patience: Promise<unknown>): Promise<void> {
    const writers = new Set((await this.#room.readWrites()).map(({ writer }) => writer));
    await Promise.race([Promise.all([...writers].map((writer) => this.watch(writer))), patience]);
  }

  /** Waits for the end of a client, and recovers its writes. */
  async watch(writer: string): Promise<void> {
    if (this.#known.has(writer)) return;
    this.#known.add(writer);
    if (!(await this.#locks.take(lockOf(writer)))) return;
    await this.#recoverFrom(writer);
  }

  /** Reads once more: the client sent and settled writes until its end. */
  async #recoverFrom(gone: string): Promise<void> {
    // The next change reports a storage that cannot be read.
    const kept = await this.#room.readWrites().catch(() => []);
    this.#recover(
      gone,
      kept.filter(({ writer }) => writer === gone),
    );
  }
}
