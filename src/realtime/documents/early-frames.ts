/** What clients of documents send while their tokens are verified: little enough to keep for strangers. */

const MAX_BYTES_OF_SOCKET = 256 * 1024;
const MAX_BYTES = 16 * 1024 * 1024;

export class EarlyFrames {
  readonly #frames = new Map<string, Uint8Array[]>();
  #bytes = 0;

  /** False when it is too much to be kept. */
  add(socketId: string, frame: Uint8Array): boolean {
    const frames = this.#frames.get(socketId) ?? [];
    const bytes = sizeOf(frames) + frame.length;
    if (bytes > MAX_BYTES_OF_SOCKET || this.#bytes + frame.length > MAX_BYTES) return false;
    this.#frames.set(socketId, [...frames, frame]);
    this.#bytes += frame.length;
    return true;
  }

  /** The frames of a socket, in their order. */
  take(socketId: string): Uint8Array[] {
    const frames = this.#frames.get(socketId) ?? [];
    this.#frames.delete(socketId);
    this.#bytes -= sizeOf(frames);
    return frames;
  }
}

const sizeOf = (frames: readonly Uint8Array[]): number => frames.reduce((sum, { length }) => sum + length, 0);
