/** `client.socket`: how the connection fares, for those who want to show it. */
import type { AtriumError } from "../../core/error.ts";

/**
 * `connecting` until the first socket is open, `reconnecting` from the loss of a connection until everything
 * is as if it had not been lost, `closed` after `disconnect()` or when coming back is of no use.
 */
export type SocketState = "idle" | "connecting" | "connected" | "reconnecting" | "closed";

export interface SocketEvents {
  connected: undefined;
  disconnected: { readonly code: number; readonly reason: string };
  /** Attempts count from 1, and from 1 again after a connection that lasted. */
  reconnecting: { readonly attempt: number };
  /** The room, its users, presence and all synced stores are up to date again. */
  reconnected: undefined;
  /** It is over: nothing is tried any more, and what waited has failed with this error. */
  failed: { readonly error: AtriumError };
  /** The token was refused or has expired, or its user was deleted; `failed` follows. */
  authFailed: { readonly code: string; readonly message: string };
}
