/** An open WebSocket of a room's object, and what its client accepts. */
import type { Trace } from "../../platform/trace.ts";
import { clearAttachment } from "./attachment.ts";
import type { Joined, Waiting } from "./connection.ts";
import { Output } from "./output.ts";
import type { Receiver } from "./send-queues.ts";

/** One socket. */
export interface OpenSocket extends Receiver {
  readonly id: string;
  readonly socket: WebSocket;
  /** Of the request that has opened it; null if that is not known. */
  readonly trace: Trace | null;
  /** Accepts several texts as one array. */
  batches: boolean;
  /** Opened by an editor's own client: it receives frames of documents, and no messages of the room. */
  isOfDocuments: boolean;
  /** Null until it has joined. */
  userId: string | null;
  /** What its client may not have read. In memory only: a room hibernates when it has sent nothing for a while. */
  output: Output;
}

export const openedAt = (connection: Waiting | Joined): number =>
  connection.phase === "waiting" ? connection.openedAt : 0;

export function acceptArrays(open: OpenSocket): void {
  open.batches = true;
  open.output = new Output(true);
}

export function speakDocuments(open: OpenSocket): void {
  open.isOfDocuments = true;
  open.output = new Output(true);
}

export function clearQuietly(socket: WebSocket): void {
  try {
    clearAttachment(socket);
  } catch {
    // The socket is being closed: should the room restart before it is, it takes it for a joined one until then.
  }
}
