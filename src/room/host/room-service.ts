/** The service that a live room uses: the database, its users' tokens and its subscribers. */
import type { AppError } from "@atrium/contract/errors.ts";
import type { InputOf } from "@atrium/contract/operations/room.ts";
import type { WebhookEventName } from "@atrium/contract/resources/events.ts";
import type { Rights } from "@atrium/contract/resources/permissions.ts";
import type { QuotaUse } from "@atrium/contract/resources/quota.ts";
import type { RoomFields } from "@atrium/contract/resources/room.ts";
import type { RoomStats } from "@atrium/contract/resources/snapshots.ts";
import type { Mention, MentionRecipients } from "@atrium/contract/resources/thread.ts";
import type { UserRecord } from "@atrium/contract/resources/user.ts";
import type { WorkBudget } from "../../platform/flow/work-budget.ts";
import type { IdentityClaims, TokenClaims, WatchClaims } from "../../platform/token-claims.ts";
import type { KnownUser } from "../engine/join/join-decision.ts";
import type { Unreached } from "../engine/outbox/outbox-drain.ts";
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
  /** Rights of the identity; 0 once it has a user, who has rights of its own. */
  readonly rights: Rights;
  /** User of the identity; a valid token with access creates it. Null without access, and if there is no place: {@link Joiners}. */
  readonly user: KnownUser | null;
}

export interface Joiners {
  readonly room: RoomFields | null;
  readonly users: ReadonlyMap<string, KnownUser>;
  readonly identities: ReadonlyMap<string, KnownIdentity>;
  /**
   * Refusals by the IDs of users and identities that cannot join yet: the database takes no writes, and their
   * joins need one.
   */
  readonly postponed: ReadonlyMap<string, AppError>;
  /** The organization's quota `online_users`. */
  readonly onlineUsers: QuotaUse;
  /** The reason why an identity with access has no user: the room's limit of users, or the quota `users`. */
  readonly noPlace: AppError;
}

/** The stats of a room at a time (epoch ms), with the bytes of its stores and documents. */
interface StatsCopy extends RoomStats {
  readonly storeBytes: number;
  readonly at: number;
}

/** The database's answer to a copy of the stats. */
interface CopiedStats {
  readonly accountTokenEpoch: number;
  /** The organization's quota `store_bytes`. */
  readonly storeUse: QuotaUse;
}

/** The composition root fills it. */
export interface RoomService {
  /** The claims of a user's or identity's token; null unless the deployment signed it and it is valid at `now` (epoch ms). */
  verifyToken(token: string, now: number): Promise<TokenClaims | IdentityClaims | null>;
  /** The same for a token that only watches. */
  verifyWatch(token: string, now: number): Promise<WatchClaims | null>;
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
    page: InputOf<"USERS_GET">,
  ): Promise<{ readonly users: readonly UserRecord[]; readonly total: number }>;
  /** The users among these who exist. */
  findBearers(room: RoomIdentity, userIds: readonly string[]): Promise<readonly KnownUser[]>;
  /** The mentioned people whom a user reaches in the room, and the others. One round trip. */
  findRecipients(
    room: RoomIdentity,
    mentions: readonly (string | Mention)[],
    userId: string,
  ): Promise<MentionRecipients>;
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
  /**
   * The token epoch of the organization, if the room has learned of all changes in the database; null while a command
   * waits for it, and for a room that might not have been sent one.
   */
  findEpochIfCurrent(room: RoomIdentity): Promise<number | null>;
  /** Copies the stats to the database, unless it has a later `version` of them. */
  copyStats(room: RoomIdentity, stats: StatsCopy, version: number): Promise<CopiedStats>;
  /** The calls that one invocation of the room may make to pass events and updates on. */
  newCalls(): WorkBudget;
  /**
   * Enqueues events at their subscribers with at most `calls` calls. Returns the subscriptions that were not
   * reached; rejects when the subscriptions could not be read. If the room `canWait`, subscribers may make quick
   * attempts first.
   */
  fanOut(
    room: RoomIdentity,
    events: readonly OutboxEvent[],
    calls: WorkBudget,
    canWait: boolean,
  ): Promise<Unreached>;
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
