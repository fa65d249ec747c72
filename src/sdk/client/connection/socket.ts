/** `client.socket`: the state of the connection and its events. */
import type { AtriumError } from "../../core/error.ts";

/**
 * - `idle`: `connect()` or `join()` has not been called.
 * - `connecting`: the first socket is being opened.
 * - `connected`: the socket is open.
 * - `reconnecting`: the connection was lost and is being restored, including everything that was missed.
 * - `closed`: `disconnect()` was called, or reconnecting cannot succeed.
 */
export type SocketState = "idle" | "connecting" | "connected" | "reconnecting" | "closed";

export interface SocketEvents {
  connected: undefined;
  /** The socket was closed, with the WebSocket close code and reason. */
  disconnected: { readonly code: number; readonly reason: string };
  /** Attempts count from 1, and from 1 again after a connection that lasted. */
  reconnecting: { readonly attempt: number };
  /** The room, its users, presence and all synced stores are up to date again. */
  reconnected: undefined;
  /** The client has given up: pending requests fail with this error. */
  failed: { readonly error: AtriumError };
  /** The token was refused or has expired, or its user was deleted. `failed` follows. */
  authFailed: { readonly code: string; readonly message: string };
}
