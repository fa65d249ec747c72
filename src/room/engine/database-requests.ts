/** The messages that need the database: what is asked of it, and what its answers become. */

import { FairQueue } from "../../platform/flow/fair-queue.ts";
import { presentRoom } from "../../wire/room.ts";
import { presentUser } from "../../wire/user.ts";
import { failure, INTERNAL_FAULT, success, TOO_MUCH } from "../protocol/frame.ts";
import type { Fault, Response } from "../protocol/protocol.ts";
import type { DatabaseQuery, QueryResult } from "../protocol/room-request.ts";
import type { Effect, Joined } from "../transport/connection.ts";
import { send } from "../transport/connections.ts";
import type { RoomContent } from "./content/content.ts";
import type { Participants } from "./participants/participants.ts";

const NO_SUCH_USER: Fault = { module: "Users", code: "NOT_FOUND", message: "User not found" };

type Follow = Extract<DatabaseQuery, { readonly type: "USER_FOLLOW" | "USER_UNFOLLOW" }>;

interface DatabaseRequestPorts {
  now(): number;
  /** Reports an unexpected failure to the service's log. */
  report(what: string, error: unknown): void;
  /** Handles a request of a joined socket that needs nothing more of the database. */
  handle(connection: Joined, request: Follow): Effect[];
}

export class DatabaseRequests {
  readonly #ports: DatabaseRequestPorts;
  readonly #participants: Participants;
  readonly #content: RoomContent;

  constructor(ports: DatabaseRequestPorts, participants: Participants, content: RoomContent) {
    this.#ports = ports;
    this.#participants = participants;
    this.#content = content;
  }

  /** Asks the database, unless the room knows what a follow needs: these stay in the order in which they were sent. */
  ask(connection: Joined, query: DatabaseQuery): Effect[] {
    const { id, userId } = connection;
    return this.#guard(id, query, () =>
      isFollow(query) && this.#hasJoined(query.data.userId)
        ? this.#ports.handle(connection, query)
        : [{ type: "queryDatabase", id, userId, query }],
    );
  }

  /** A question that cannot be handled is answered as any request that fails because of the server. */
  #guard(id: string, { type, requestId }: DatabaseQuery, work: () => Effect[]): Effect[] {
    try {
      return work();
    } catch (error) {
      this.#ports.report(`A ${type} request failed`, error);
      return [send([id], failure(INTERNAL_FAULT, requestId))];
    }
  }

  #hasJoined(userId: string): boolean {
    return this.#participants.sessions.findLastSeen([userId])[userId] !== undefined;
  }

  /** Completes a `queryDatabase` effect, unless the socket is gone. */
  answer(
    { id, query }: Omit<Extract<Effect, { type: "queryDatabase" }>, "type">,
    result: QueryResult | "failed" | "refused",
  ): Effect[] {
    const connection = this.#participants.connections.get(id);
    if (connection?.phase !== "joined") return [];
    return this.#guard(id, query, () => this.#answer(connection, query, result));
  }

  #answer(connection: Joined, query: DatabaseQuery, result: QueryResult | "failed" | "refused"): Effect[] {
    const { id, userId } = connection;
    if (typeof result === "object" && "userExists" in result)
      return isFollow(query) ? this.#answerFollow(connection, query, result.userExists) : [];
    const counted: Effect = { type: "countDelivery", userId, isBroadcast: false };
    return [send([id], this.#responseOf(result, query.requestId)), counted];
  }

  #responseOf(
    result: Exclude<QueryResult, { readonly userExists: boolean }> | "failed" | "refused",
    requestId: string | undefined,
  ): Response {
    if (result === "failed") return failure(INTERNAL_FAULT, requestId);
    if (result === "refused") return failure(TOO_MUCH, requestId);
    const { sessions } = this.#participants;
    if ("room" in result) {
      const room = presentRoom(result.room, this.#ports.now(), sessions.stats);
      return success("Room retrieved", { room }, requestId);
    }
    const userIds = result.users.map((user) => user.id);
    const lastSeen = sessions.findLastSeen(userIds);
    const data = {
      users: result.users.map((user) => presentUser(user, lastSeen[user.id])),
      total: result.total,
      follows: this.#content.follows.of(userIds),
      seq: this.#content.changes.lastSeq,
    };
    return success("Users retrieved", data, requestId);
  }

  /** The user may have been deleted since the database was read; a user who does not exist can be unfollowed. */
  #answerFollow(connection: Joined, query: Follow, userExists: boolean): Effect[] {
    const isGone = !userExists || this.#content.changes.hasHappened("userDeleted", query.data.userId);
    if (isGone && query.type === "USER_FOLLOW")
      return [send([connection.id], failure(NO_SUCH_USER, query.requestId))];
    return this.#ports.handle(connection, query);
  }
}

const isFollow = (query: DatabaseQuery): query is Follow =>
  query.type === "USER_FOLLOW" || query.type === "USER_UNFOLLOW";

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
