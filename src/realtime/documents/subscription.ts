/** A document that a socket has opened: how its client names it, and what it is still being sent. */
import { withKey } from "./wire/frames.ts";

/** The rest of a document that is sent part by part, each when the client has applied the one before. */
interface Transfer {
  readonly stateVector: Uint8Array;
  readonly parts: Iterator<Uint8Array>;
  /** The part that follows: it is known before it is sent, because the last one is sent differently. */
  next: Uint8Array;
}

export class Subscription {
  readonly socketId: string;
  /** As the client names the document; null where the address of the socket does. */
  readonly key: string | null;
  transfer: Transfer | null = null;
  /** The client has received why its changes are refused. */
  hasWarned = false;

  constructor(socketId: string, key: string | null) {
    this.socketId = socketId;
    this.key = key;
  }

  frame(body: Uint8Array): Uint8Array {
    return this.key === null ? body : withKey(this.key, body);
  }
}
