/** The tokens that are being verified, and the frames that wait for them. */
import type { Effect } from "../../transport/connection.ts";

/** Keeps the frames of clients whose tokens are being verified, within bounds that strangers may use. */
const MAX_BYTES_OF_SOCKET = 256 * 1024;
const MAX_BYTES = 16 * 1024 * 1024;
/** Memory of a kept frame beside its bytes. */
const FRAME_BYTES = 256;

interface Kept {
  readonly frames: Uint8Array[];
  bytes: number;
}

/** Frames of clients whose tokens are being verified, within bounds that strangers may use. */
class BufferedFrames {
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

  take(socketId: string): Uint8Array[] {
    const { frames, bytes } = this.#bySocket.get(socketId) ?? { frames: [], bytes: 0 };
    this.#bySocket.delete(socketId);
    this.#bytes -= bytes;
    return frames;
  }
}

/** Tokens that are being verified, by socket and document. */
export class PendingTokens {
  /** Waiting frames, also of sockets that have not joined. */
  readonly early = new BufferedFrames();
  /** Tokens of waiting documents, by joined socket and the client's name for the document. */
  readonly #tokens = new Map<string, Map<string, string>>();

  keysOf(socketId: string): readonly string[] {
    return [...(this.#tokens.get(socketId)?.keys() ?? [])];
  }

  isWaiting(socketId: string, key: string): boolean {
    return this.#tokens.get(socketId)?.has(key) === true;
  }

  /** Begins to wait for a token. A token of several documents of a socket is verified once. */
  begin(id: string, key: string, token: string): Effect[] {
    const tokens = this.#tokens.get(id) ?? new Map<string, string>();
    const isKnown = [...tokens.values()].includes(token);
    this.#tokens.set(id, tokens.set(key, token));
    return isKnown ? [] : [{ type: "authorizeDocuments", id, token }];
  }

  end(socketId: string, token: string): readonly string[] {
    const tokens = this.#tokens.get(socketId) ?? new Map<string, string>();
    const keys = [...tokens].flatMap(([key, pending]) => (pending === token ? [key] : []));
    for (const key of keys) tokens.delete(key);
    if (tokens.size === 0) this.#tokens.delete(socketId);
    return keys;
  }

  forget(socketId: string): void {
    this.early.take(socketId);
    this.#tokens.delete(socketId);
  }
}
