/** Presence that sockets have yet to be sent, because it did not fit into one frame: by the order of its changes. */

export class Backlog {
  /** The number of each user's latest change, earliest first. */
  readonly #changes = new Map<string, number>();
  /** Users without a state: sockets that are behind may have seen an earlier one. */
  readonly #gone = new Set<string>();
  /** By socket, the change up to which it was sent everything. */
  readonly #sockets = new Map<string, number>();
  /** The number of the latest change. */
  latest = 0;

  /** A user shows something else, or nothing any more. */
  changed(userId: string, isGone: boolean): void {
    this.latest += 1;
    this.#changes.delete(userId);
    this.#changes.set(userId, this.latest);
    if (isGone) this.#gone.add(userId);
    else this.#gone.delete(userId);
  }

  /** The users who have changed since then, earliest first. */
  *changedSince(since: number): Iterable<readonly [string, number]> {
    for (const change of this.#changes) if (change[1] > since) yield change;
  }

  /** The sockets that are behind, each with the change up to which it was sent everything. */
  get sockets(): ReadonlyMap<string, number> {
    return this.#sockets;
  }

  /** The socket was sent everything up to this change: with null, all of it. */
  sent(id: string, change: number | null): void {
    if (change === null) this.#sockets.delete(id);
    else this.#sockets.set(id, change);
  }

  /** Forgets the users without a state, once no socket is behind. */
  prune(): void {
    if (this.#sockets.size > 0) return;
    for (const userId of this.#gone) this.#changes.delete(userId);
    this.#gone.clear();
  }
}
