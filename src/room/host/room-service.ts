/** The service that a live room uses: the database, its users' tokens and its subscribers. */
import type { WorkBudget } from "../../platform/flow/work-budget.ts";
import type { WebhookEventName } from "../../wire/events.ts";
import type { QuotaUse } from "../../wire/quota.ts";
import type { RoomFields } from "../../wire/room.ts";
import type { RoomStats } from "../../wire/snapshots.ts";
import type { TokenClaims, TokenSubject } from "../../wire/token-claims.ts";
import type { UserRecord } from "../../wire/user.ts";
import type { MessageOf } from "../protocol/messages.ts";
import type { OutboxEvent } from "../storage/sqlite-outbox.ts";
import type { RoomIdentity } from "../storage/storage.ts";

export interface KnownUser {
  readonly record: UserRecord;
  /** The columns that decide whether a token is still one of the user's. */
  readonly subject: TokenSubject;
}

export interface Joiners {
  readonly room: RoomFields | null;
  readonly users: ReadonlyMap<string, KnownUser>;
  /** The organization's quota `online_users`. */
  readonly onlineUsers: QuotaUse;
}

/** The stats of a room at a time (epoch ms), with the bytes of its stores and documents. */
interface StatsCopy extends RoomStats {
  readonly storeBytes: number;
  readonly at: number;
}

/** The database's answer to a copy of the stats. */
export interface CopiedStats {
  readonly accountTokenEpoch: number;
  /** The quota `store_bytes` as it holds for this room. */
  readonly storeUse: QuotaUse;
  /** The most bytes of all comments; null for the limit of every room. */
  readonly maxCommentBytes: number | null;
}

/** The composition root fills it. */
export interface RoomService {
  /** The claims of a token; null unless the deployment signed it and it is valid at `now` (epoch ms). */
  verifyToken(token: string, now: number): Promise<TokenClaims | null>;
  findRoom(room: RoomIdentity): Promise<RoomFields | null>;
  /** A user with the room, in one round trip. */
  findUser(
    room: RoomIdentity,
    userId: string,
  ): Promise<{ readonly room: RoomFields | null; readonly user: KnownUser | null }>;
  findUsers(
    room: RoomIdentity,
    page: MessageOf<"USERS_GET">["data"],
  ): Promise<{ readonly users: readonly UserRecord[]; readonly total: number }>;
  /** The token epoch of the organization; 0 when it is gone. */
  findAccountTokenEpoch(room: RoomIdentity): Promise<number>;
  /** Reads users who join at the same time, in one round trip. Records the first join (epoch ms) unless it is null. */
  readJoiners(room: RoomIdentity, userIds: readonly string[], firstJoinAt: number | null): Promise<Joiners>;
  /** Copies the stats to the database, unless it has a later `version` of them. */
  copyStats(room: RoomIdentity, stats: StatsCopy, version: number): Promise<CopiedStats>;
  /**
   * Enqueues events at their subscribers by at most so many calls. Resolves to the subscriptions that could not be
   * reached, as JSON by event ID; rejects when the subscriptions could not be read.
   */
  fanOut(
    room: RoomIdentity,
    events: readonly OutboxEvent[],
    calls: WorkBudget,
  ): Promise<ReadonlyMap<string, string>>;
  /** Whether a subscriber listens to this event of the room. */
  hasListener(room: RoomIdentity, event: WebhookEventName): Promise<boolean>;
  /** Removes an erased user from the organization's event log. */
  eraseFromLog(room: RoomIdentity, userId: string): Promise<void>;
}
