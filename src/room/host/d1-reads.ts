/** What a room's object reads from D1 once users have joined, in the order of its {@link DatabaseQueue}. */
import { findRoomRow } from "../../features/rooms/queries.ts";
import { findUsers } from "../../features/users/list-queries.ts";
import { recordOf } from "../../features/users/table.ts";
import {
  findAccountTokenEpoch,
  findExistingUsers,
  findTokenBearer,
} from "../../features/users/token-bearer.ts";
import type { RoomFields } from "../../wire/room.ts";
import { DatabaseQueue, type Question } from "../engine/database-queue.ts";
import type { Room } from "../engine/room.ts";
import type { DatabaseQuery, QueryResult } from "../protocol/room-request.ts";
import type { Effect } from "../transport/effects.ts";
import type { RoomContext } from "./room-context.ts";

/** The effects that need a read. */
type ReadEffect = Extract<
  Effect,
  {
    readonly type: "refreshUser" | "refreshRoom" | "refreshTokens" | "checkUsers" | "queryDatabase";
  }
>;

interface D1ReadPorts {
  readonly context: RoomContext;
  readonly room: Room;
  perform(effects: readonly Effect[]): void;
}

export class D1Reads {
  readonly #ports: D1ReadPorts;
  readonly #queue: DatabaseQueue;

  constructor(ports: D1ReadPorts) {
    this.#ports = ports;
    this.#queue = new DatabaseQueue({
      answer: (questions) => this.#answer(questions),
      keepAlive: (work) => ports.context.keepAlive(work),
    });
  }

  /** Reads what an effect needs when it is its turn, and performs what follows. */
  enqueue(effect: ReadEffect): void {
    const { perform, room } = this.#ports;
    switch (effect.type) {
      case "refreshUser":
        this.#queue.refresh(() => this.#refreshUser(effect.userId, effect.event));
        break;
      case "checkUsers":
        this.#queue.refresh(() => this.#checkUsers(effect.userIds));
        break;
      case "refreshRoom":
        this.#queue.refresh(() => this.#refreshRoom(effect.closing));
        break;
      case "refreshTokens":
        this.#queue.refresh(() => this.#refreshTokens(effect.userId));
        break;
      case "queryDatabase":
        if (!this.#queue.ask(effect)) perform(room.questions.answer(effect, "refused"));
    }
  }

  /** Resolves when the refreshes so far are done; rejects when the last one failed. */
  refreshed(): Promise<void> {
    return this.#queue.refreshed();
  }

  /** Answers equal questions from one read, which is left out when no one is there to receive it. */
  async #answer(questions: readonly Question[]): Promise<void> {
    const { room, perform } = this.#ports;
    const [open] = questions.filter(({ id }) => room.isOpen(id));
    if (open === undefined) return;
    const result = (await this.#query(open.query)) ?? "failed";
    for (const question of questions) perform(room.questions.answer(question, result));
  }

  /** A user or a room that has been deleted in the meantime is skipped. */
  async #refreshUser(userId: string, event: "userCreated" | "userUpdated"): Promise<void> {
    const { context, room, perform } = this.#ports;
    const found = await findTokenBearer(context.tenant, context.identity.roomId, userId);
    if (found.room !== null) room.updates.recordRoom(found.room);
    if (found.user !== null) perform(room.updates.updateUser(recordOf(found.user), event));
  }

  async #refreshTokens(userId: string | null): Promise<void> {
    const { context, room, perform } = this.#ports;
    if (userId === null) {
      const account = await findAccountTokenEpoch(context.tenant);
      perform(room.updates.endTokens(null, { account }));
      return;
    }
    const { user } = await findTokenBearer(context.tenant, context.identity.roomId, userId);
    if (user === null) return;
    const current = { user: user.tokenEpoch, account: user.accountTokenEpoch };
    perform(room.updates.endTokens(userId, current));
  }

  async #refreshRoom(closing: readonly string[] | null): Promise<void> {
    const { room, perform } = this.#ports;
    const row = await this.#findRoom();
    if (row !== null) perform(room.updates.updateRoom(row, closing));
  }

  async #findRoom(): Promise<RoomFields | null> {
    const { identity, tenant } = this.#ports.context;
    const { updates } = this.#ports.room;
    const { revision } = updates;
    const row = await findRoomRow(tenant, { id: identity.roomId });
    if (row !== null) updates.recordExistence(revision);
    return row;
  }

  async #checkUsers(userIds: readonly string[]): Promise<void> {
    const { context, room } = this.#ports;
    const existing = await findExistingUsers(context.tenant, context.identity.roomId, userIds);
    room.updates.forgetUsers(userIds.filter((userId) => !existing.has(userId)));
  }

  /**
   * Before a room's first write: the caller may have checked the database before the room was deleted, and its write
   * would bring the erased object back. Nothing else has to remember the deletion.
   */
  async requireExisting(): Promise<void> {
    const { identity, storeEvents, documentEvents, updates } = this.#ports.room;
    if (updates.isUsed && (identity !== null || updates.isDeleted)) return;
    const row = await this.#findRoom();
    if (row === null) updates.recordDeletion();
    else for (const events of [storeEvents, documentEvents]) events.offerRow(row);
  }

  /**
   * Before a change of a comment, whose event shows the room. Until the first join, changes of the room do not reach
   * its object: the row is read each time.
   */
  async requireRow(): Promise<void> {
    const { room } = this.#ports;
    if (room.record !== null) return;
    const row = await this.#findRoom();
    if (row === null) room.updates.recordDeletion();
    else room.updates.keepRow(row);
  }

  /** Null when the database failed, or the room is gone. */
  async #query(query: DatabaseQuery): Promise<QueryResult | null> {
    const { context } = this.#ports;
    const { roomId } = context.identity;
    try {
      if (query.type === "ROOM_GET") {
        const room = await this.#findRoom();
        return room === null ? null : { room };
      }
      if (query.type !== "USERS_GET") {
        const { userId } = query.data;
        return { userExists: (await findExistingUsers(context.tenant, roomId, [userId])).has(userId) };
      }
      const { limit, offset, after } = query.data;
      const { users, total } = await findUsers(context.tenant, roomId, {
        ...{ limit, offset, search: "", from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER },
        after: after && { key: Date.parse(after.created_at), id: after.id },
      });
      return { users: users.map(recordOf), total };
    } catch (error) {
      context.report("The database could not be read for a room", error);
      return null;
    }
  }
}
