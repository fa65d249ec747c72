/** Finds readers that are too slow: the runtime tells nothing of what waits in a socket, so the reader itself is asked. */

/** After so many bytes of events a socket is asked to say that it has read so far. */
export const MARK_EVERY_BYTES = 1024 * 1024;
/** What may be sent to a socket beyond what it has said to have read. */
export const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

interface Reading {
  /** Bytes of events that were sent to the socket. */
  sent: number;
  /** The latest mark: what had been sent then. */
  marked: number;
  /** The latest mark that was answered. */
  read: number;
}

/** Kept in memory alone: a room that hibernates has nothing under way. */
export class Backpressure {
  readonly #readings = new Map<string, Reading>();

  /** Counts what is sent to a socket: the mark to send after it, if it is time for one, and whether it reads too slowly. */
  count(id: string, bytes: number): { readonly mark: number | null; readonly isTooSlow: boolean } {
    const reading = this.#readings.get(id) ?? { sent: 0, marked: 0, read: 0 };
    this.#readings.set(id, reading);
    reading.sent += bytes;
    if (reading.sent - reading.read > MAX_UNREAD_BYTES) return { mark: null, isTooSlow: true };
    if (reading.sent - reading.marked < MARK_EVERY_BYTES) return { mark: null, isTooSlow: false };
    reading.marked = reading.sent;
    return { mark: reading.marked, isTooSlow: false };
  }

  /** The socket has read all that was sent before this mark. */
  answered(id: string, mark: number): void {
    const reading = this.#readings.get(id);
    if (reading !== undefined && mark <= reading.marked) reading.read = Math.max(reading.read, mark);
  }

  forget(id: string): void {
    this.#readings.delete(id);
  }
}
