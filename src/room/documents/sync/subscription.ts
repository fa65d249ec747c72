/** A document that a socket has opened: how its client names it, and what it is still being sent. */
import { withKey } from "../wire/frames.ts";

/** The rest of a document that is sent part by part, each when the client has applied the one before. */
interface Transfer {
  readonly stateVector: Uint8Array;
  /** The number of the part that follows. */
  next: number;
}

/** A step 1 that the room has sent, and what its answer means. */
export interface Question {
  /** The client has read what was sent before this mark; null when it was sent for the sake of its answer. */
  readonly mark: number | null;
  /** The client is synchronized by it. */
  readonly isSync: boolean;
}

export class Subscription {
  readonly socketId: string;
  /** As the client names the document; null where the address of the socket does. */
  readonly key: string | null;
  transfer: Transfer | null = null;
  /** What the client has not answered, in the order in which it was asked. */
  readonly questions: Question[] = [];
  /** The client has received why its changes are refused. */
  hasWarned = false;
  /** Updates whose statuses follow the one of the synchronization. */
  heldStatuses = 0;
  /** It is older than this memory: what its client was asked and sent before is forgotten. */
  readonly isRestored: boolean;

  constructor(socketId: string, key: string | null, isRestored = false) {
    this.socketId = socketId;
    this.key = key;
    this.isRestored = isRestored;
  }

  /** Whether the client has been sent everything, and has not answered since. */
  get isAsked(): boolean {
    return this.questions.some(({ isSync }) => isSync);
  }

  /** Whether the client's next answer is to a question of before. */
  get answersForgotten(): boolean {
    return this.isRestored && this.questions.length === 0;
  }

  frame(body: Uint8Array): Uint8Array {
    return this.key === null ? body : withKey(this.key, body);
  }
}
