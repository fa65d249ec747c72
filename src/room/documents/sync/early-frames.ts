/** Keeps the frames of clients whose tokens are being verified, within bounds that strangers may use. */

const MAX_BYTES_OF_SOCKET = 256 * 1024;
const MAX_BYTES = 16 * 1024 * 1024;
/** Memory of a kept frame beside its bytes. */
const FRAME_BYTES = 256;

interface Kept {
  readonly frames: Uint8Array[];
  bytes: number;
}

export class EarlyFrames {
  readonly #bySocket = new Map<string, Kept>();
  #bytes = 0;

  /** Keeps a frame; false when it is too much. */
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

  /** Takes the frames of a socket, in their order. */
  take(socketId: string): Uint8Array[] {
    const { frames, bytes } = this.#bySocket.get(socketId) ?? { frames: [], bytes: 0 };
    this.#bySocket.delete(socketId);
    this.#bytes -= bytes;
    return frames;
  }
}
