/** Finds the sockets whose clients read more slowly than the room sends: each by itself, and those of the room together. */
import { type Output, slowestOf, UNCONFIRMED_IN_ROOM, UNREAD_IN_ROOM } from "./output.ts";

/** How often the room's bound is checked, by what it has sent. */
const CHECK_EVERY_BYTES = 4 * 1024 * 1024;

/** A socket, by what was sent to it. */
interface Reader {
  readonly output: Output;
}

export class SlowReaders<Socket extends Reader> {
  readonly #open: () => Iterable<Socket>;
  readonly #slow = new Set<Socket>();
  /** Bytes sent since the room's own bound was checked. */
  #uncheckedBytes = 0;

  /** `open` returns the sockets of the room that are open. */
  constructor(open: () => Iterable<Socket>) {
    this.#open = open;
  }

  /** Counts a frame that is sent at `now` (epoch ms); of its bytes, `eventBytes` are events. */
  count(socket: Socket, bytes: number, eventBytes: number, now: number): void {
    socket.output.count(bytes, eventBytes, now);
    if (socket.output.isTooSlow(now)) this.#slow.add(socket);
    this.#uncheckedBytes += bytes;
    if (this.#uncheckedBytes >= CHECK_EVERY_BYTES) this.#checkRoom(now);
  }

  /** When more is unread in the whole room than it may hold, or unconfirmed, those who have the most count as slow. */
  #checkRoom(now: number): void {
    this.#uncheckedBytes = 0;
    const sockets = [...this.#open()];
    const slow = [
      ...slowestOf(sockets, ({ output }) => output.unread(now), UNREAD_IN_ROOM),
      ...slowestOf(sockets, ({ output }) => output.unconfirmed, UNCONFIRMED_IN_ROOM),
    ];
    for (const socket of slow) this.#slow.add(socket);
  }

  /** The sockets found since the last call that are still open. */
  take(): Socket[] {
    if (this.#slow.size === 0) return [];
    const slow = [...this.#slow];
    this.#slow.clear();
    return slow;
  }

  /** The socket is gone. */
  delete(socket: Socket): void {
    this.#slow.delete(socket);
  }
}
