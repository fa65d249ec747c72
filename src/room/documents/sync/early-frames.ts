/** What clients of documents send while their tokens are verified: little enough to keep for strangers. */

const MAX_BYTES_OF_SOCKET = 256 * 1024;
const MAX_BYTES = 16 * 1024 * 1024;
/** What keeping a frame takes beside its bytes, which may be none. */
const FRAME_BYTES = 256;

interface Kept {
  readonly frames: Uint8Array[];
  bytes: number;
}

export class EarlyFrames {
  readonly #bySocket = new Map<string, Kept>();
  #bytes = 0;

  /** False when it is too much to be kept. */
  add(socketId: string, frame: Uint8Array): boolean {
    const kept = this.#bySocket.get(socketId) ?? { frames: [], bytes: 0 };
    const bytes = FRAME_BYTES + frame.length;
    if (kept.bytes + bytes > MAX_BYTES_OF_SOCKET || this.#bytes + bytes > MAX_BYTES) return false;
    kept.frames.push(frame);
    kept.bytes += bytes;
    this.#bySocket.set(socketId, kept);
    this.#bytes += bytes;
    return true;
  }

  /** The frames of a socket, in their order. */
  take(socketId: string): Uint8Array[] {
    const { frames, bytes } = this.#bySocket.get(socketId) ?? { frames: [], bytes: 0 };
    this.#bySocket.delete(socketId);
    this.#bytes -= bytes;
    return frames;
  }
}
