/** The tokens of documents that are being verified, and what clients send about these documents meanwhile. */
import type { Effect } from "../../transport/effects.ts";
import { EarlyFrames } from "./early-frames.ts";

export class PendingTokens {
  /** The frames that wait, also of sockets that have not joined. */
  readonly early = new EarlyFrames();
  /** Of sockets that have joined: the token of each document that waits for one, by the name that its client gives it. */
  readonly #tokens = new Map<string, Map<string, string>>();

  /** The documents of a socket that wait for their tokens. */
  keysOf(socketId: string): readonly string[] {
    return [...(this.#tokens.get(socketId)?.keys() ?? [])];
  }

  isWaiting(socketId: string, key: string): boolean {
    return this.#tokens.get(socketId)?.has(key) === true;
  }

  /** A document waits from now on. A token that several of the socket's documents have is verified once. */
  begin(id: string, key: string, token: string): Effect[] {
    const tokens = this.#tokens.get(id) ?? new Map<string, string>();
    const isKnown = [...tokens.values()].includes(token);
    this.#tokens.set(id, tokens.set(key, token));
    return isKnown ? [] : [{ type: "authorizeDocuments", id, token }];
  }

  /** A token has been verified: returns the documents that have waited for it. */
  end(socketId: string, token: string): readonly string[] {
    const tokens = this.#tokens.get(socketId) ?? new Map<string, string>();
    const keys = [...tokens].flatMap(([key, pending]) => (pending === token ? [key] : []));
    for (const key of keys) tokens.delete(key);
    if (tokens.size === 0) this.#tokens.delete(socketId);
    return keys;
  }

  /** A socket is gone. */
  forget(socketId: string): void {
    this.early.take(socketId);
    this.#tokens.delete(socketId);
  }
}
