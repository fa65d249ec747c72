/** The service that a live room uses: the database, its users' tokens and its subscribers. */
import type { AppError } from "../../platform/errors.ts";
import type { WorkBudget } from "../../platform/flow/work-budget.ts";
import type { WebhookEventName } from "../../wire/events.ts";
import type { Rights } from "../../wire/permissions.ts";
import type { QuotaUse } from "../../wire/quota.ts";
import type { RoomFields } from "../../wire/room.ts";
import type { RoomStats } from "../../wire/snapshots.ts";
import type { Addressees } from "../../wire/thread.ts";
import type { IdentityClaims, TokenClaims } from "../../wire/token-claims.ts";
import type { UserRecord } from "../../wire/user.ts";
import type { KnownUser } from "../engine/join/join-decision.ts";
import type { Unreached } from "../engine/outbox/outbox-drain.ts";
import type { MessageOf } from "../protocol/messages.ts";
import type { OutboxEvent } from "../storage/sqlite-outbox.ts";
import type { StoredInboxUpdate } from "../storage/sqlite-threads.ts";
import type { RoomIdentity, RoomStorage } from "../storage/storage.ts";

/** A token of an identity, which joins as the identity's user in the room. */
export interface Entrant {
  readonly identityId: string;
  readonly identityEpoch: number;
  readonly accountEpoch: number;
}

/** An identity as the database has it. */
export interface KnownIdentity {
  readonly identityEpoch: number;
  readonly accountEpoch: number;
  /** Its rights; 0 once it has a user, who has rights of its own. */
  readonly rights: Rights;
  /** Its user, whom a valid token with access creates. Null without access, and above the quota `users`. */
  readonly user: KnownUser | null;
}

export interface Joiners {
  readonly room: RoomFields | null;
  readonly users: ReadonlyMap<string, KnownUser>;
  readonly identities: ReadonlyMap<string, KnownIdentity>;
  /** Why users and identities, by their IDs, can not join yet: the database takes no writes, and their joins need one. */
  readonly postponed: ReadonlyMap<string, AppError>;
  /** The organization's quotas `online_users` and `users`. */
  readonly onlineUsers: QuotaUse;
  readonly allUsers: QuotaUse;
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
  /** The claims of a user's or identity's token; null unless the deployment signed it and it is valid at `now` (epoch ms). */
  verifyToken(token: string, now: number): Promise<TokenClaims | IdentityClaims | null>;
  /** Whether a token of any organization, valid by itself, has not ended. */
  isTokenCurrent(claims: TokenClaims | IdentityClaims): Promise<boolean>;
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
  /** The users among these who exist. */
  findBearers(room: RoomIdentity, userIds: readonly string[]): Promise<readonly KnownUser[]>;
  /** The mentioned people whom a user reaches in the room, and the others. One round trip. */
  findAddressees(
    room: RoomIdentity,
    mentions: MessageOf<"COMMENT_CREATE">["data"]["mentions"],
    userId: string,
  ): Promise<Addressees>;
  /** The token epoch of the organization; 0 when it is gone. */
  findAccountTokenEpoch(room: RoomIdentity): Promise<number>;
  /**
   * Reads users who join at the same time, in one round trip, which creates the users of identities that come for the
   * first time. Records the first join (epoch ms) unless it is null. `keepAlive` takes the work that no join waits for.
   */
  readJoiners(
    room: RoomIdentity,
    joining: { readonly userIds: readonly string[]; readonly entrants: readonly Entrant[] },
    firstJoinAt: number | null,
    keepAlive: (work: Promise<unknown>) => void,
  ): Promise<Joiners>;
  /** Copies the stats to the database, unless it has a later `version` of them. */
  copyStats(room: RoomIdentity, stats: StatsCopy, version: number): Promise<CopiedStats>;
  /**
   * Enqueues events at their subscribers by at most so many calls. The subscriptions that could not be reached are left;
   * rejects when the subscriptions could not be read.
   */
  fanOut(room: RoomIdentity, events: readonly OutboxEvent[], calls: WorkBudget): Promise<Unreached>;
  /** Passes updates to the inboxes that they concern, as {@link fanOut}; the place to go on from is left. */
  notify(
    room: RoomIdentity,
    threads: RoomStorage["threads"],
    updates: readonly StoredInboxUpdate[],
    calls: WorkBudget,
  ): Promise<Unreached>;
  /** Whether a subscriber listens to this event of the room. */
  hasListener(room: RoomIdentity, event: WebhookEventName): Promise<boolean>;
  /** Removes an erased user from the organization's event log. */
  eraseFromLog(room: RoomIdentity, userId: string): Promise<void>;
}
