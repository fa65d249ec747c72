/** The locks of one client: the end of the client, or of its page, releases them. */
import type { OfflineRoom } from "./storage.ts";

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
