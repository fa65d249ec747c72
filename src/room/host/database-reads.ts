/** The reads of a room's object from D1 after joins, in the order of its {@link DatabaseQueue}. */
import type { RoomFields } from "@atrium/contract/resources/room.ts";
import { DatabaseQueue, type DatabaseRead } from "../engine/database-requests.ts";
import { standingOf } from "../engine/join/join-decision.ts";
import type { Room } from "../engine/room.ts";
import { mentionsOf, type QueryResult } from "../protocol/room-request.ts";
import type { Effect } from "../transport/connection.ts";
import type { RoomContext } from "./room-context.ts";
import type { RoomService } from "./room-service.ts";

type ReadEffect = Extract<
  Effect,
  {
    readonly type: "refreshUser" | "refreshRoom" | "refreshTokens" | "refreshAccess" | "queryDatabase";
  }
>;

/** The parts of the runtime that reads use. */
interface DatabaseReadPorts {
  readonly context: RoomContext;
  readonly service: RoomService;
  readonly room: Room;
  perform(effects: readonly Effect[]): void;
}

export class DatabaseReads {
  readonly #ports: DatabaseReadPorts;
  readonly #queue: DatabaseQueue;

  constructor(ports: DatabaseReadPorts) {
    this.#ports = ports;
    this.#queue = new DatabaseQueue({
      answer: (reads) => this.#answer(reads),
      keepAlive: (work) => ports.context.keepAlive(work),
    });
  }

  /** Reads for an effect when it is its turn, and performs the effects that follow. */
  enqueue(effect: ReadEffect): void {
    switch (effect.type) {
      case "refreshUser":
        this.#queue.refresh(() => this.#refreshUser(effect.userId, effect.event));
        break;
      case "refreshRoom":
        this.#queue.refresh(() => this.#refreshRoom(effect.closing));
        break;
      case "refreshTokens":
        this.#queue.refresh(() => this.#refreshTokens(effect.userId));
        break;
      case "refreshAccess":
        this.#queue.refresh(() => this.#refreshAccess(effect.identityId));
        break;
      case "queryDatabase":
        if (!this.#queue.ask(effect)) this.#answerAll([effect], "refused");
    }
  }

  /** Resolves when the refreshes so far are done; rejects when the last one failed. */
  refreshed(): Promise<void> {
    return this.#queue.refreshed();
  }

  /** Answers equal reads from one read; none if all sockets are gone. */
  async #answer(reads: readonly DatabaseRead[]): Promise<void> {
    const open = reads.find(({ id }) => this.#ports.room.isOpen(id));
    if (open !== undefined) this.#answerAll(reads, (await this.#query(open)) ?? "failed");
  }

  #answerAll(reads: readonly DatabaseRead[], result: QueryResult | "failed" | "refused"): void {
    const { room } = this.#ports;
    for (const read of reads) this.#ports.perform(room.databaseRequests.answer(read, result));
  }

  /** A user or a room that has been deleted in the meantime is skipped. */
  async #refreshUser(userId: string, event: "userCreated" | "userUpdated"): Promise<void> {
    const { context, room, service } = this.#ports;
    const found = await service.findUser(context.identity, userId);
    if (found.room !== null) room.commands.recordRoom(found.room);
    if (found.user !== null) this.#ports.perform(room.commands.updateUser(found.user, event));
  }

  async #refreshTokens(userId: string | null): Promise<void> {
    const { context, room, service } = this.#ports;
    if (userId === null) {
      const account = await service.findAccountTokenEpoch(context.identity);
      this.#ports.perform(room.commands.endTokens(null, { account }));
      return;
    }
    const { user } = await service.findUser(context.identity, userId);
    if (user === null) return;
    const current = { user: user.subject.tokenEpoch, account: user.subject.accountTokenEpoch };
    this.#ports.perform(room.commands.endTokens(userId, current));
    room.sessions.recordStanding(userId, standingOf(user));
  }

  async #refreshAccess(identityId: string | null): Promise<void> {
    const { context, room, service } = this.#ports;
    const userIds = room.sessions.ofIdentities(identityId).map(({ user }) => user.id);
    if (userIds.length === 0) return;
    this.#ports.perform(room.commands.changeAccess(await service.findBearers(context.identity, userIds)));
  }

  async #refreshRoom(closing: readonly string[] | null): Promise<void> {
    const { room } = this.#ports;
    const row = await this.#findRoom();
    if (row !== null) this.#ports.perform(room.commands.updateRoom(row, closing));
  }

  /** A read that a command overtakes may have missed its change, and is repeated. */
  async #findRoom(): Promise<RoomFields | null> {
    const { context, room, service } = this.#ports;
    let revision: number;
    let row: RoomFields | null;
    do {
      revision = room.commands.revision;
      row = await service.findRoom(context.identity);
    } while (revision !== room.commands.revision);
    if (row !== null) room.commands.recordRow(row);
    return row;
  }

  /**
   * Checks the database before a room's first write. The room may have been deleted since the caller's check,
   * and the write would bring the erased object back.
   */
  async requireExisting(): Promise<void> {
    const { identity, storeEvents, documentEvents, streams, commands } = this.#ports.room;
    if (commands.isUsed && (identity !== null || commands.isDeleted)) return;
    const row = await this.#findRoom();
    if (row === null) commands.recordDeletion();
    else for (const part of [storeEvents, documentEvents, streams]) part.offerRow(row);
  }

  /**
   * Reads the room's row before a change of a comment, whose event shows it. Until the first join, changes of
   * the row do not reach the object, so each change reads it.
   */
  async requireRow(): Promise<void> {
    const { room } = this.#ports;
    if (room.sessions.record !== null) return;
    const row = await this.#findRoom();
    if (row === null) room.commands.recordDeletion();
    else room.commands.keepRow(row);
  }

  async #query({ query, userId }: DatabaseRead): Promise<QueryResult | null> {
    const { context, service } = this.#ports;
    const { identity } = context;
    try {
      if (query.type === "ROOM_GET") {
        const room = await this.#findRoom();
        return room === null ? null : { room };
      }
      if (query.type === "USERS_GET") return await service.findUsers(identity, query.data);
      if (query.type === "USER_FOLLOW" || query.type === "USER_UNFOLLOW") {
        const { userId } = query.data;
        return { userExists: (await service.findUser(identity, userId)).user !== null };
      }
      return { recipients: await service.findRecipients(identity, mentionsOf(query), userId) };
    } catch (error) {
      context.report("The database could not be read for a room", error);
      return null;
    }
  }
}
