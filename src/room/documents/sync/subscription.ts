/** A document that a socket has open, and the progress of its synchronization. */
import { withKey } from "./frames.ts";

/** A transfer in parts; the client applies each before the next one is sent. */
interface Transfer {
  readonly stateVector: Uint8Array;
  /** The number of the next part. */
  next: number;
}

/** A step 1 of the room, and the meaning of its answer. */
export interface SentStep {
  /** The answer confirms everything sent before this mark; null when it asks for operations. */
  readonly mark: number | null;
  /** The answer completes the synchronization. */
  readonly isSync: boolean;
}

export class Subscription {
  readonly socketId: string;
  /** The client's name for the document; null where the address names it. */
  readonly key: string | null;
  transfer: Transfer | null = null;
  /** Unanswered steps, in their order. */
  readonly unanswered: SentStep[] = [];
  /** The client has received the reason of a refusal. */
  hasWarned = false;
  /** Updates whose statuses follow that of the synchronization. */
  heldStatuses = 0;
  /** The subscription is older than this memory, which lacks its unanswered steps. */
  readonly isRestored: boolean;

  constructor(socketId: string, key: string | null, isRestored = false) {
    this.socketId = socketId;
    this.key = key;
    this.isRestored = isRestored;
  }

  /** Tells whether the client was sent everything, and has not answered since. */
  get isAsked(): boolean {
    return this.unanswered.some(({ isSync }) => isSync);
  }

  /** Tells whether the next answer belongs to a step that the room has forgotten. */
  get answersForgotten(): boolean {
    return this.isRestored && this.unanswered.length === 0;
  }

  frame(body: Uint8Array): Uint8Array {
    return this.key === null ? body : withKey(this.key, body);
  }
}
