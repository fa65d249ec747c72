/** Orders what a room needs of the database, so that one user's questions delay no change, no join and no one else. */
import { FairLanes } from "./fair-lanes.ts";
import type { Joiner } from "./join/joiners.ts";
import type { DatabaseQuery } from "./protocol/room-request.ts";

/** A question of a joined socket. */
export interface Question {
  readonly id: string;
  readonly userId: string;
  readonly query: DatabaseQuery;
}

/** A user who waits for the read of a join. */
interface WaitingJoin {
  readonly userId: string;
  /** False once the socket is gone. */
  isWanted(): boolean;
  resolve(joiner: Joiner | null): void;
  reject(error: unknown): void;
}

interface DatabaseQueuePorts {
  /** Reads users who join, all at once. */
  readJoiners(userIds: readonly string[]): Promise<(userId: string) => Joiner>;
  /** Reads and answers equal questions, all at once. Never rejects. */
  answer(questions: readonly Question[]): Promise<void>;
  keepAlive(work: Promise<unknown>): void;
}

/** Questions of one user that wait for the database; further ones are refused. */
const MAX_WAITING_QUESTIONS = 32;
/** Reads for joins at the same time: fewer than the connections that an object may open at once. */
const JOIN_READS_AT_ONCE = 2;
/** Joins that one such read is for. */
const JOINS_PER_READ = 100;

/**
 * Three kinds of work. Refreshes, which show participants what REST has changed, run one after the other: the
 * latest result is also the last one used. Joins run beside them; those that wait are read together. Questions run one at a time, in turns by user, and
 * only while no refresh waits: a refresh waits for one question at most.
 */
export class DatabaseQueue {
  readonly #ports: DatabaseQueuePorts;
  readonly #joins = new FairLanes<WaitingJoin>();
  readonly #questions = new FairLanes<Question>();
  #refreshed: Promise<void> = Promise.resolve();
  #waitingRefreshes = 0;
  #runningJoinReads = 0;
  #areJoinsHeld = false;
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

  /** Reads a user who joins when it is the user's turn. Null when the socket is gone by then. */
  join(userId: string, isWanted: () => boolean): Promise<Joiner | null> {
    return new Promise((resolve, reject) => {
      this.#joins.add(userId, { userId, isWanted, resolve, reject });
      this.#joinNext();
    });
  }

  /** Joins wait, to be read together, until the returned function is called. */
  holdJoins(): () => void {
    this.#areJoinsHeld = true;
    return () => {
      this.#areJoinsHeld = false;
      this.#joinNext();
    };
  }

  #joinNext(): void {
    while (!this.#areJoinsHeld && this.#runningJoinReads < JOIN_READS_AT_ONCE) {
      const joins = this.#takeJoins();
      if (joins.length === 0) return;
      this.#runningJoinReads += 1;
      void this.#readJoiners(joins).finally(() => {
        this.#runningJoinReads -= 1;
        this.#joinNext();
      });
    }
  }

  #takeJoins(): WaitingJoin[] {
    const joins: WaitingJoin[] = [];
    while (joins.length < JOINS_PER_READ) {
      const join = this.#joins.take();
      if (join === undefined) break;
      if (join.isWanted()) joins.push(join);
      else join.resolve(null);
    }
    return joins;
  }

  async #readJoiners(joins: readonly WaitingJoin[]): Promise<void> {
    try {
      const find = await this.#ports.readJoiners([...new Set(joins.map(({ userId }) => userId))]);
      for (const { userId, resolve } of joins) resolve(find(userId));
    } catch (error) {
      for (const { reject } of joins) reject(error);
    }
  }

  /** Answers a question when it is its user's turn. False when too many of the user's questions wait. */
  ask(question: Question): boolean {
    if (this.#questions.sizeOf(question.userId) >= MAX_WAITING_QUESTIONS) return false;
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
