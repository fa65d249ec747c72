/** Orders what a room needs of the database, so that one user's questions delay no change and no one else. */
import { FairQueue } from "../../platform/flow/fair-queue.ts";
import type { DatabaseQuery } from "../protocol/room-request.ts";

/** A question of a joined socket. */
export interface Question {
  readonly id: string;
  readonly userId: string;
  readonly query: DatabaseQuery;
}

interface DatabaseQueuePorts {
  /** Reads and answers equal questions, all at once. Never rejects. */
  answer(questions: readonly Question[]): Promise<void>;
  keepAlive(work: Promise<unknown>): void;
}

/** Questions of one user that wait for the database; further ones are refused. */
const MAX_WAITING_QUESTIONS = 32;

/**
 * Two kinds of work. Refreshes, which show participants what REST has changed, run one after the other: the latest
 * result is also the last one used. Questions run one at a time, in turns by user, and only while no refresh waits: a
 * refresh waits for one question at most. Joins are no part of it: they run beside both (`join-authorizer`).
 */
export class DatabaseQueue {
  readonly #ports: DatabaseQueuePorts;
  readonly #questions = new FairQueue<Question>();
  #refreshed: Promise<void> = Promise.resolve();
  #waitingRefreshes = 0;
  /** The question that is being answered. */
  #answering: Promise<void> | null = null;

  constructor(ports: DatabaseQueuePorts) {
    this.#ports = ports;
  }

  /** Runs `work` after the refreshes before it. */
  refresh(work: () => Promise<void>): void {
    this.#waitingRefreshes += 1;
    this.#refreshed = this.#runRefresh(this.#refreshed, work);
    this.#ports.keepAlive(this.#refreshed.catch(() => undefined));
  }

  async #runRefresh(earlier: Promise<void>, work: () => Promise<void>): Promise<void> {
    try {
      await earlier.catch(() => undefined);
      await this.#answering;
      await work();
    } finally {
      this.#waitingRefreshes -= 1;
      this.#answerNext();
    }
  }

  /** Resolves when the refreshes so far are done; rejects when the last one failed. */
  refreshed(): Promise<void> {
    return this.#refreshed;
  }

  /** Answers a question when it is its user's turn. False when too many of the user's questions wait. */
  ask(question: Question): boolean {
    if (this.#questions.itemsOf(question.userId).length >= MAX_WAITING_QUESTIONS) return false;
    this.#questions.add(question.userId, question);
    this.#answerNext();
    return true;
  }

  #answerNext(): void {
    if (this.#answering !== null || this.#waitingRefreshes > 0) return;
    const question = this.#questions.take();
    if (question === undefined) return;
    const text = textOf(question);
    const equal = this.#questions.takeAll((other) => textOf(other) === text);
    this.#answering = this.#ports.answer([question, ...equal]).finally(() => {
      this.#answering = null;
      this.#answerNext();
    });
    this.#ports.keepAlive(this.#answering);
  }
}

/** Equal for questions that have the same answer and change nothing. */
const textOf = ({ id, query: { type, data, requestId } }: Question): string =>
  JSON.stringify([type, data, type === "ROOM_GET" || type === "USERS_GET" ? null : [id, requestId]]);
