/** A storage whose changes wait until a test lets them be stored, and whose page can crash at any moment. */
import {
  type KeptChange,
  memoryStorage,
  type OfflineListener,
  type OfflineRoom,
  type OfflineStorage,
} from "atrium/offline";

interface Waiting {
  readonly room: OfflineRoom;
  readonly change: KeptChange;
  readonly settle: () => void;
}

/** One page's view of the storage that it shares with others. */
export class CrashableStorage implements OfflineStorage {
  readonly #shared: OfflineStorage;
  #waiting: Waiting[] = [];
  readonly #rooms = new Set<OfflineRoom>();
  readonly #locks = new Set<() => void>();
  readonly #held = new Set<string>();
  readonly #crash = new AbortController();

  constructor(shared: OfflineStorage = memoryStorage()) {
    this.#shared = shared;
  }

  async open(scope: string, listener: OfflineListener): Promise<OfflineRoom> {
    const { signal } = this.#crash;
    const room = await this.#shared.open(scope, {
      closed: (reason) => !signal.aborted && listener.closed(reason),
      announced: (writer) => !signal.aborted && listener.announced(writer),
    });
    this.#rooms.add(room);
    if (signal.aborted) room.close();
    return {
      readStores: () => room.readStores(),
      readWrites: () => room.readWrites(),
      apply: (change) =>
        new Promise((settle) => {
          if (!signal.aborted) this.#waiting.push({ room, change, settle });
        }),
      lock: (name, other) => this.#lock(room, name, other),
      announce: (writer) => !signal.aborted && room.announce(writer),
      close: () => room.close(),
    };
  }

  async #lock(room: OfflineRoom, name: string, signal: AbortSignal): Promise<(() => void) | null> {
    const crash = this.#crash.signal;
    const release = await room.lock(name, AbortSignal.any([signal, crash]));
    if (release === null) return null;
    this.#locks.add(release);
    this.#held.add(name);
    if (!crash.aborted) return release;
    release();
    return null;
  }

  clear(): Promise<void> {
    return this.#shared.clear();
  }

  /** Whether this page has the writes of this writer alone. */
  owns(writer: string): boolean {
    return this.#held.has(`writer ${writer}`);
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0;
  }

  /** Stores the next change. */
  async store(): Promise<void> {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    await next.room.apply(next.change);
    next.settle();
  }

  /** The page ends without a word: waiting writes are lost, and its locks are free. */
  crash(): void {
    this.#crash.abort();
    this.#waiting = [];
    for (const room of this.#rooms) room.close();
    for (const release of this.#locks) release();
  }
}
