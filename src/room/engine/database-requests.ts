/** The requests that need the database, as ROOM_GET: their queue, and their responses. */

import { FairQueue } from "../../platform/flow/fair-queue.ts";
import { presentRoom } from "../../wire/room.ts";
import type { Addressees } from "../../wire/thread.ts";
import { presentUser } from "../../wire/user.ts";
import { failure, INTERNAL_FAULT, success, TOO_MUCH } from "../protocol/frame.ts";
import type { Fault, Response } from "../protocol/protocol.ts";
import type { DatabaseQuery, QueryResult } from "../protocol/room-request.ts";
import type { Effect, Joined } from "../transport/connection.ts";
import { send } from "../transport/connections.ts";
import type { RoomPorts } from "../transport/room-ports.ts";
import type { RoomContent } from "./content/content.ts";
import type { Participants } from "./participants/participants.ts";

const NO_SUCH_USER: Fault = { module: "Users", code: "NOT_FOUND", message: "User not found" };

/** Handled once the database has been read. */
type Postponed = Exclude<DatabaseQuery, { readonly type: "ROOM_GET" | "USERS_GET" }>;
type Follow = Extract<DatabaseQuery, { readonly type: "USER_FOLLOW" | "USER_UNFOLLOW" }>;

/** The parts of the room that these requests use. */
interface DatabaseRequestParts {
  readonly ports: Pick<RoomPorts, "now" | "report">;
  readonly participants: Participants;
  readonly content: RoomContent;
  /** Handles a request that needs nothing more of the database. */
  handle(connection: Joined, request: Postponed & { readonly addressees?: Addressees }): Effect[];
}

export class DatabaseRequests {
  readonly #room: DatabaseRequestParts;

  constructor(room: DatabaseRequestParts) {
    this.#room = room;
  }

  /** Asks the database, except for a follow of a user whom the room knows: it is handled at once, in order. */
  ask(connection: Joined, query: DatabaseQuery): Effect[] {
    const { id, userId } = connection;
    return this.#guard(id, query, () =>
      isFollow(query) && this.#hasJoined(query.data.userId)
        ? this.#room.handle(connection, query)
        : [{ type: "queryDatabase", id, userId, query }],
    );
  }

  /** An unexpected failure becomes a response as well. */
  #guard(id: string, { type, requestId }: DatabaseQuery, work: () => Effect[]): Effect[] {
    try {
      return work();
    } catch (error) {
      this.#room.ports.report(`A ${type} request failed`, error);
      return [send([id], failure(INTERNAL_FAULT, requestId))];
    }
  }

  #hasJoined(userId: string): boolean {
    return Object.hasOwn(this.#room.participants.sessions.findLastSeen([userId]), userId);
  }

  /** Completes a `queryDatabase` effect, unless the socket is gone. */
  answer(
    { id, query }: Omit<Extract<Effect, { type: "queryDatabase" }>, "type">,
    result: QueryResult | "failed" | "refused",
  ): Effect[] {
    const connection = this.#room.participants.connections.get(id);
    if (connection?.phase !== "joined") return [];
    return this.#guard(id, query, () => this.#answer(connection, query, result));
  }

  #answer(connection: Joined, query: DatabaseQuery, result: QueryResult | "failed" | "refused"): Effect[] {
    const { id, userId } = connection;
    if (typeof result === "object" && "userExists" in result)
      return isFollow(query) ? this.#answerFollow(connection, query, result.userExists) : [];
    if (typeof result === "object" && "addressees" in result)
      return query.type === "ROOM_GET" || query.type === "USERS_GET"
        ? []
        : this.#room.handle(connection, { ...query, addressees: result.addressees });
    const counted: Effect = { type: "countDelivery", userId, isBroadcast: false };
    return [send([id], this.#responseOf(result, query.requestId)), counted];
  }

  #responseOf(
    result:
      | Exclude<QueryResult, { readonly userExists: boolean } | { readonly addressees: Addressees }>
      | "failed"
      | "refused",
    requestId: string | undefined,
  ): Response {
    if (result === "failed") return failure(INTERNAL_FAULT, requestId);
    if (result === "refused") return failure(TOO_MUCH, requestId);
    const { sessions } = this.#room.participants;
    if ("room" in result) {
      const room = presentRoom(result.room, this.#room.ports.now(), sessions.stats);
      return success("Room retrieved", { room }, requestId);
    }
    const userIds = result.users.map((user) => user.id);
    const lastSeen = sessions.findLastSeen(userIds);
    const data = {
      users: result.users.map((user) => presentUser(user, lastSeen[user.id])),
      total: result.total,
      follows: this.#room.content.follows.of(userIds),
      seq: this.#room.content.changes.lastSeq,
    };
    return success("Users retrieved", data, requestId);
  }

  /** The user may have been deleted since the database was read; a user who does not exist can be unfollowed. */
  #answerFollow(connection: Joined, query: Follow, userExists: boolean): Effect[] {
    const isGone = !userExists || this.#room.content.changes.hasHappened("userDeleted", query.data.userId);
    if (isGone && query.type === "USER_FOLLOW")
      return [send([connection.id], failure(NO_SUCH_USER, query.requestId))];
    return this.#room.handle(connection, query);
  }
}

const isFollow = (query: DatabaseQuery): query is Follow =>
  query.type === "USER_FOLLOW" || query.type === "USER_UNFOLLOW";

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
 * Refreshes, which show participants the changes of REST, run one after the other, so that the latest result is used
 * last. Questions run one at a time, fairly by user, and only while no refresh waits. Joins run beside both.
 */
export class DatabaseQueue {
  readonly #ports: DatabaseQueuePorts;
  readonly #questions = new FairQueue<Question>();
  #refreshed: Promise<void> = Promise.resolve();
  #waitingRefreshes = 0;
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
