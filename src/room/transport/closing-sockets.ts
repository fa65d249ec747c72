/** Sockets that the room has closed and whose connections have not ended: the runtime keeps what they were sent until then. */

/** A socket of which less is unconfirmed holds too little to count. */
const MIN_COUNTED_BYTES = 1024 * 1024;

export class ClosingSockets {
  readonly #userIds = new Map<WebSocket, string>();

  /** The room closes a user's socket, whose client has not confirmed so many bytes. */
  add(socket: WebSocket, userId: string, unconfirmedBytes: number): void {
    if (unconfirmedBytes > MIN_COUNTED_BYTES) this.#userIds.set(socket, userId);
  }

  /** The connection has ended. */
  delete(socket: WebSocket): void {
    this.#userIds.delete(socket);
  }

  /** Forgets those that the runtime no longer has. */
  keep(present: ReadonlySet<WebSocket>): void {
    for (const socket of this.#userIds.keys()) if (!present.has(socket)) this.#userIds.delete(socket);
  }

  /** How many of a user's sockets have not ended. */
  countOf(userId: string): number {
    return [...this.#userIds.values()].filter((other) => other === userId).length;
  }
}
