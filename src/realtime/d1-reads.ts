/** What a room's object reads from D1: one read after the other, so that the latest result is also the last one used. */
import type { Env } from "../config.ts";
import { openTenant } from "../platform/d1.ts";
import { logError } from "../platform/log.ts";
import { findRoomRow } from "../rooms/queries.ts";
import { findUsers } from "../users/queries.ts";
import { recordOf } from "../users/schema.ts";
import { findAccountTokenEpoch, findTokenBearer } from "../users/token-bearer.ts";
import type { DatabaseQuery, QueryResult } from "./protocol/room-request.ts";
import type { Room } from "./room.ts";
import type { RoomIdentity } from "./storage/storage.ts";
import type { Effect } from "./transport/effects.ts";

/** The effects that need a read. */
type ReadEffect = Extract<
  Effect,
  { readonly type: "refreshUser" | "refreshRoom" | "refreshTokens" | "queryDatabase" }
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
  #latest: Promise<void> = Promise.resolve();

  constructor(ports: D1ReadPorts) {
    this.#ports = ports;
  }

  /** Reads what an effect needs, after the reads before it, and performs what follows. */
  enqueue(effect: ReadEffect): void {
    this.#latest = this.#latest.catch(() => undefined).then(() => this.#run(effect));
    this.#ports.keepAlive(this.#latest.catch(() => undefined));
  }

  /** Resolves when the reads so far are done; rejects when the last one failed. */
  settled(): Promise<void> {
    return this.#latest;
  }

  async #run(effect: ReadEffect): Promise<void> {
    switch (effect.type) {
      case "refreshUser":
        return this.#refreshUser(effect.userId, effect.event);
      case "refreshRoom":
        return this.#refreshRoom();
      case "refreshTokens":
        return this.#refreshTokens(effect.userId);
      case "queryDatabase": {
        const result = await this.#query(effect.query);
        this.#ports.perform(this.#ports.room.answerQuery(effect.id, effect.query, result));
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

  async #refreshRoom(): Promise<void> {
    const { env, room } = this.#ports;
    const { accountId, roomId } = this.#ports.identity();
    const row = await findRoomRow(openTenant(env.DB, accountId), { id: roomId });
    if (row !== null) this.#ports.perform(room.updates.updateRoom(row));
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
      const page = { ...query.data, search: "", from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER };
      const { users, total } = await findUsers(tenant, roomId, page);
      return { users: users.map(recordOf), total };
    } catch (error) {
      logError("The database could not be read for a room", { account: accountId, room: roomId }, error);
      return null;
    }
  }
}
