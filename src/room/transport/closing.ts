/** How sockets are closed: with a code and a reason that their protocols allow, and without an error of their own. */
import { cutToBytes } from "../../platform/text.ts";
import { CLOSE, type CloseCode } from "../protocol/close.ts";

/** RFC 6455 allows no more; a socket with a longer one would stay open. */
const MAX_REASON_BYTES = 123;
/** What describes how a socket ended, and may not be sent: no code, no close at all, no TLS. */
const UNSENDABLE: ReadonlySet<number> = new Set([1005, 1006, 1015]);
const NORMAL = 1000;
const TRY_AGAIN_LATER = 1013;

/** Why a socket of documents closes although its client may come back. */
const TRANSIENT: ReadonlySet<number> = new Set([
  CLOSE.joinTimeout,
  CLOSE.tooManySockets,
  CLOSE.readerTooSlow,
  CLOSE.flooding,
]);

/** Clients of documents give up at 4400 to 4499: what passes gets a code at which they come back. */
export const closeCodeForDocuments = (code: CloseCode): number =>
  TRANSIENT.has(code) ? TRY_AGAIN_LATER : code;

/** The code that answers the close of a client. */
export const answerTo = (code: number): number => (UNSENDABLE.has(code) ? NORMAL : code);

export function closeQuietly(socket: WebSocket, code: number, reason: string): void {
  try {
    socket.close(code, cutToBytes(reason, MAX_REASON_BYTES));
  } catch {
    // It is closed already, or its code may not be sent: nothing depends on the result.
  }
}
