/** Requests that need the database, such as ROOM_GET: their queue and their responses. */

import { presentRoom } from "@atrium/contract/resources/room.ts";
import type { MentionRecipients } from "@atrium/contract/resources/thread.ts";
import { presentUser } from "@atrium/contract/resources/user.ts";
import { FairQueue } from "../../platform/flow/fair-queue.ts";
import { failure, faultOf, INTERNAL_FAULT, success, TOO_MUCH } from "../protocol/frame.ts";
import type { Fault, Response } from "../protocol/protocol.ts";
import type { DatabaseQuery, QueryResult } from "../protocol/room-request.ts";
import type { Effect, Joined } from "../transport/connection.ts";
import { send } from "../transport/connections.ts";
import type { RoomPorts } from "../transport/room-ports.ts";
import type { RoomContent } from "./content/content.ts";
import type { Participants } from "./participants/participants.ts";
import { missingRight } from "./requests.ts";

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
  handle(
    connection: Joined,
    request: Postponed & { readonly recipients?: MentionRecipients | undefined },
  ): Effect[];
}

export class DatabaseRequests {
  readonly #room: DatabaseRequestParts;

  constructor(room: DatabaseRequestParts) {
    this.#room = room;
  }

  /**
   * Queues a database request. A follow of a known user is handled at once, in order, and so is a request that
   * its sender may not make.
   */
  ask(connection: Joined, query: DatabaseQuery): Effect[] {
    const { id, userId, rights } = connection;
    return this.#guard(id, query, () => {
      const isPostponed = query.type !== "ROOM_GET" && query.type !== "USERS_GET";
      const isKnown = isFollow(query) && this.#hasJoined(query.data.userId);
      return isPostponed && (isKnown || missingRight(query, { rights, userId, connection }) !== null)
        ? this.#room.handle(connection, query)
        : [{ type: "queryDatabase", id, userId, query }];
    });
  }

  /** An unexpected failure becomes a response as well. */
  #guard(id: string, { type, requestId }: DatabaseQuery, work: () => Effect[]): Effect[] {
    try {
      return work();
    } catch (error) {
      this.#room.ports.report(`A ${type} request failed`, error);
      return [send([id], failure(faultOf(error), requestId))];
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
    if (typeof result === "object" && "recipients" in result)
      return query.type === "ROOM_GET" || query.type === "USERS_GET"
        ? []
        : this.#room.handle(connection, { ...query, recipients: result.recipients });
    const counted: Effect = { type: "countDelivery", userId, isBroadcast: false };
    return [send([id], this.#responseOf(result, query.requestId)), counted];
  }

  #responseOf(
    result:
      | Exclude<QueryResult, { readonly userExists: boolean } | { readonly recipients: MentionRecipients }>
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

export interface DatabaseRead {
  readonly id: string;
  readonly userId: string;
  readonly query: DatabaseQuery;
}

interface DatabaseQueuePorts {
  /** Reads and answers equal ones, all at once. Never rejects. */
  answer(reads: readonly DatabaseRead[]): Promise<void>;
  keepAlive(work: Promise<unknown>): void;
}

/** Reads of one user that wait for the database; further ones are refused. */
const MAX_WAITING_READS = 32;

/**
 * Refreshes, which show participants the changes of REST, run one after the other, so that the latest result is used
 * last. Reads run one at a time, fairly by user, and only while no refresh waits. Joins run beside both.
 */
export class DatabaseQueue {
  readonly #ports: DatabaseQueuePorts;
  readonly #reads = new FairQueue<DatabaseRead>();
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

  /** Answers a read when it is its user's turn. False when too many of the user's reads wait. */
  ask(read: DatabaseRead): boolean {
    if (this.#reads.itemsOf(read.userId).length >= MAX_WAITING_READS) return false;
    this.#reads.add(read.userId, read);
    this.#answerNext();
    return true;
  }

  #answerNext(): void {
    if (this.#answering !== null || this.#waitingRefreshes > 0) return;
    const read = this.#reads.take();
    if (read === undefined) return;
    const text = textOf(read);
    const equal = this.#reads.takeAll((other) => textOf(other) === text);
    this.#answering = this.#ports.answer([read, ...equal]).finally(() => {
      this.#answering = null;
      this.#answerNext();
    });
    this.#ports.keepAlive(this.#answering);
  }
}

/** Equal for reads that have the same answer and change nothing. */
const textOf = ({ id, query: { type, data, requestId } }: DatabaseRead): string =>
  JSON.stringify([type, data, type === "ROOM_GET" || type === "USERS_GET" ? null : [id, requestId]]);
