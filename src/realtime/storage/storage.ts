/** What the room asks of storage: synchronous, transactional, and empty until the first write. */
import type { UserRecord } from "../../users/schema.ts";
import type { Attendance, StoredSession } from "../port/snapshots.ts";
import type { ChangeLog, CommentTable, EntryTable, FollowTable } from "./storage-content.ts";
import type { EventTable, OccupancyTable } from "./storage-outbox.ts";

/** Which room this is. The object is told by whoever calls it and keeps it for its alarms. */
export interface RoomIdentity {
  readonly accountId: string;
  readonly roomId: string;
}

/** The room's one row: who it is, its figures, and how far they have been copied. */
export interface RoomRecord extends RoomIdentity {
  readonly activeParticipants: number;
  readonly occupiedMs: number;
  readonly occupiedSince: number | null;
  /** Counts the changes to the three above. */
  readonly version: number;
  /** The version that the database's copy is known to have; below `version`, a copy is owed. */
  readonly copiedVersion: number;
  /** The last time at which the room is known to have been running (epoch ms). */
  readonly lastAliveAt: number;
}

/** The session of a user who is online, with the user as the other members see it. */
export interface OpenSession {
  readonly id: string;
  readonly joinedAt: number;
  readonly user: UserRecord;
}

/** Both drivers keep the same promises; one contract suite runs over them. Reading never creates anything. */
export interface RoomStorage {
  /** Runs `work` whole or not at all: when it throws, nothing that it wrote remains. */
  transaction<T>(work: () => T): T;

  readRecord(): RoomRecord | null;
  writeRecord(record: RoomRecord): void;

  /** Throws when the user has an open session already. */
  insertSession(session: OpenSession): void;
  endSession(sessionId: string, leftAt: number): void;
  /** Changes the user as its open session shows it; without one there is nothing to change. */
  updateUser(user: UserRecord): void;
  deleteSessions(userId: string): void;

  listOpenSessions(): OpenSession[];
  /** Newest first. */
  listSessions(userId: string, limit: number): StoredSession[];
  /** By user id, for those of `userIds` who ever joined. */
  findAttendance(userIds: readonly string[]): Record<string, Attendance>;

  readonly changes: ChangeLog;
  readonly entries: EntryTable;
  readonly comments: CommentTable;
  readonly follows: FollowTable;
  readonly events: EventTable;
  readonly occupancy: OccupancyTable;

  /** Removes everything, down to the tables. */
  clear(): void;
}
