/** What a room's object reads from D1, in the order of its {@link DatabaseQueue}. */
import type { Env } from "../config.ts";
import { openTenant } from "../platform/d1.ts";
import { logError } from "../platform/log.ts";
import { findRoomRow } from "../rooms/queries.ts";
import { findUsers } from "../users/queries.ts";
import { recordOf } from "../users/schema.ts";
import { findAccountTokenEpoch, findExistingUsers, findTokenBearer } from "../users/token-bearer.ts";
import { DatabaseQueue, type Question } from "./database-queue.ts";
import { type JoinDecision, joinRefusal } from "./join/join-decision.ts";
import type { DatabaseQuery, QueryResult } from "./protocol/room-request.ts";
import type { Room } from "./room.ts";
import type { RoomIdentity } from "./storage/storage.ts";
import type { Effect } from "./transport/effects.ts";

/** No one receives it. */
const SOCKET_GONE = joinRefusal("Rooms", "BAD_REQUEST", "The socket is closed");

/** The effects that need a read. */
type ReadEffect = Extract<
  Effect,
  { readonly type: "refreshUser" | "refreshRoom" | "refreshTokens" | "checkUsers" | "queryDatabase" }
>;

export interface D1ReadPorts {
  readonly env: Env;
  readonly room: Room;
  identity(): RoomIdentity;
  perform(effects: readonly Effect[]): void;
  keepAlive(work: Promise<unknown>): void;
}

export class D1Reads {
  readonly #ports: D1ReadPorts;
  readonly #queue: DatabaseQueue;

  constructor(ports: D1ReadPorts) {
    this.#ports = ports;
    this.#queue = new DatabaseQueue({
      answer: (questions) => this.#answer(questions),
      keepAlive: (work) => ports.keepAlive(work),
    });
  }

  /** Reads what an effect needs when it is its turn, and performs what follows. */
  enqueue(effect: ReadEffect): void {
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
        if (!this.#queue.ask(effect)) this.#ports.perform(this.#ports.room.answerQuery(effect, "refused"));
    }
  }

  /** Resolves when the refreshes so far are done; rejects when the last one failed. */
  refreshed(): Promise<void> {
    return this.#queue.refreshed();
  }

  /** Runs the read that lets a user's socket join when it is the user's turn, unless the socket is gone by then. */
  join(id: string, userId: string, read: () => Promise<JoinDecision>): Promise<JoinDecision> {
    return this.#queue.join(userId, async () => (this.#ports.room.isOpen(id) ? read() : SOCKET_GONE));
  }

  /** Answers equal questions from one read, which is left out when no one is there to receive it. */
  async #answer(questions: readonly Question[]): Promise<void> {
    const { room, perform } = this.#ports;
    const [open] = questions.filter(({ id }) => room.isOpen(id));
    if (open === undefined) return;
    const result = (await this.#query(open.query)) ?? "failed";
    for (const question of questions) {
      try {
        perform(room.answerQuery(question, result));
      } catch (error) {
        const { accountId: account, roomId: room } = this.#ports.identity();
        logError("A question could not be answered", { account, room }, error);
      }
    }
  }

  /** A user or a room that has been deleted in the meantime is skipped. */
  async #refreshUser(userId: string, event: "userCreated" | "userUpdated"): Promise<void> {
    const { env, room } = this.#ports;
    const { accountId, roomId } = this.#ports.identity();
    const found = await findTokenBearer(openTenant(env.DB, accountId), roomId, userId);
    if (found.room !== null) room.updates.recordRoom(found.room);
    if (found.user !== null) this.#ports.perform(room.updates.updateUser(recordOf(found.user), event));
  }

  async #refreshTokens(userId: string | null): Promise<void> {
    const { env, room } = this.#ports;
    const { accountId, roomId } = this.#ports.identity();
    const tenant = openTenant(env.DB, accountId);
    if (userId === null) {
      const account = await findAccountTokenEpoch(tenant);
      this.#ports.perform(room.updates.endTokens(null, { account }));
      return;
    }
    const { user } = await findTokenBearer(tenant, roomId, userId);
    if (user === null) return;
    const current = { user: user.tokenEpoch, account: user.accountTokenEpoch };
    this.#ports.perform(room.updates.endTokens(userId, current));
  }

  async #refreshRoom(closing: readonly string[]): Promise<void> {
    const { env, room } = this.#ports;
    const { accountId, roomId } = this.#ports.identity();
    const row = await findRoomRow(openTenant(env.DB, accountId), { id: roomId });
    if (row !== null) this.#ports.perform(room.updates.updateRoom(row, closing));
  }

  async #checkUsers(userIds: readonly string[]): Promise<void> {
    const { accountId, roomId } = this.#ports.identity();
    const existing = await findExistingUsers(openTenant(this.#ports.env.DB, accountId), roomId, userIds);
    this.#ports.room.updates.forgetUsers(userIds.filter((userId) => !existing.has(userId)));
  }

  /** Null when the database failed, or the room is gone. */
  async #query(query: DatabaseQuery): Promise<QueryResult | null> {
    const { accountId, roomId } = this.#ports.identity();
    const tenant = openTenant(this.#ports.env.DB, accountId);
    try {
      if (query.type === "ROOM_GET") {
        const room = await findRoomRow(tenant, { id: roomId });
        return room === null ? null : { room };
      }
      if (query.type !== "USERS_GET") {
        const { userId } = query.data;
        return { userExists: (await findExistingUsers(tenant, roomId, [userId])).has(userId) };
      }
      const page = { ...query.data, search: "", from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER };
      const { users, total } = await findUsers(tenant, roomId, page);
      return { users: users.map(recordOf), total };
    } catch (error) {
      logError("The database could not be read for a room", { account: accountId, room: roomId }, error);
      return null;
    }
  }
}
