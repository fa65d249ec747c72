/** The tokens that are being verified, and the frames that wait for them. */
import type { Effect } from "../../transport/effects.ts";
import { EarlyFrames } from "./early-frames.ts";

export class PendingTokens {
  /** Waiting frames, also of sockets that have not joined. */
  readonly early = new EarlyFrames();
  /** By joined socket: the token of each waiting document, by the client's name for it. */
  readonly #tokens = new Map<string, Map<string, string>>();

  /** Lists the waiting documents of a socket. */
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

  /** Ends the wait for a token, and returns its documents. */
  end(socketId: string, token: string): readonly string[] {
    const tokens = this.#tokens.get(socketId) ?? new Map<string, string>();
    const keys = [...tokens].flatMap(([key, pending]) => (pending === token ? [key] : []));
    for (const key of keys) tokens.delete(key);
    if (tokens.size === 0) this.#tokens.delete(socketId);
    return keys;
  }

  /** Forgets a socket that is gone. */
  forget(socketId: string): void {
    this.early.take(socketId);
    this.#tokens.delete(socketId);
  }
}
