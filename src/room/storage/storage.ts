/** The room's storage port: synchronous, transactional, and empty until the first write. */

import type { LastSeen, StoredSession } from "../../wire/snapshots.ts";
import type { UserRecord } from "../../wire/user.ts";
import type { CommentTable, EntryTable, FollowTable } from "./storage-content.ts";
import type { DocumentTable, VersionTable } from "./storage-documents.ts";
import type { ChangeLog, EpochTable, ReceiptTable } from "./storage-log.ts";
import type { ChangedStoreTable, DocumentNoteTable, EventTable, OccupancyTable } from "./storage-outbox.ts";

/** Which room this is. Callers of the object pass it, and the object stores it for its alarms. */
export interface RoomIdentity {
  readonly accountId: string;
  readonly roomId: string;
}

/** The room's one row: its identity, its stats, and which version of them the database has. */
export interface RoomRecord extends RoomIdentity {
  readonly activeParticipants: number;
  readonly occupiedMs: number;
  readonly occupiedSince: number | null;
  /** Counts the changes of the three fields above. */
  readonly version: number;
  /** The version that the database is known to have; below `version`, the stats must be copied. */
  readonly copiedVersion: number;
  /** When the room was last known to be running (epoch ms). */
  readonly lastAliveAt: number;
}

/** The session of a user who is online, with the user as the other participants see them. */
export interface OpenSession {
  readonly id: string;
  readonly joinedAt: number;
  readonly user: UserRecord;
}

/** Whose a session is, and when it ended; null while it is open. */
export type Stay = Pick<StoredSession, "userId" | "leftAt">;

/** A user who stays online without a socket: the last one broke, and may be replaced until `endsAt`. */
export interface GracePeriod {
  readonly userId: string;
  /** Epoch milliseconds, like all times here. */
  readonly endsAt: number;
  /** When the user counts as gone if no socket has replaced it by then. */
  readonly leftAt: number;
  /** What the user shows meanwhile, of those whom REST keeps online; absent where a client may come back with it. */
  readonly state?: Readonly<Record<string, unknown>> | null;
}

export interface GracePeriodTable {
  /** Adds a user's grace period, or replaces it. */
  put(grace: GracePeriod): void;
  delete(userId: string): void;
  /** The earliest end first. */
  list(): GracePeriod[];
}

/** Both drivers follow the same contract, and one suite tests it. Reading never creates anything. */
export interface RoomStorage {
  /** Runs `work` completely or not at all: if it throws, nothing that it wrote remains. */
  transaction<T>(work: () => T): T;

  readRecord(): RoomRecord | null;
  writeRecord(record: RoomRecord): void;

  /** Throws if the user already has an open session. */
  insertSession(session: OpenSession): void;
  endSession(sessionId: string, leftAt: number): void;
  /** Updates the user in their open session, if they have one. */
  updateUser(user: UserRecord): void;
  deleteSessions(userId: string): void;

  listOpenSessions(): OpenSession[];
  /** Newest first: of all of the user's, or of those before one that is kept. */
  listSessions(userId: string, limit: number, beforeId?: string): StoredSession[];
  /** Of all users, newest first. */
  listLatestStays(limit: number): Stay[];
  /** By user id, for those of `userIds` who have ever joined. */
  findLastSeen(userIds: readonly string[]): Record<string, LastSeen>;

  readonly changes: ChangeLog;
  readonly epochs: EpochTable;
  readonly receipts: ReceiptTable;
  readonly entries: EntryTable;
  readonly comments: CommentTable;
  readonly follows: FollowTable;
  readonly documents: DocumentTable;
  readonly versions: VersionTable;
  readonly events: EventTable;
  readonly changedStores: ChangedStoreTable;
  readonly documentNotes: DocumentNoteTable;
  readonly occupancy: OccupancyTable;
  readonly gracePeriods: GracePeriodTable;

  /** Deletes everything, including the tables. */
  clear(): void;
}
