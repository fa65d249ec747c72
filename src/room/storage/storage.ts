/** The room's storage in the SQLite database of its Durable Object. */
import type { Rights } from "@atrium/contract/resources/permissions.ts";
import type { LastSeen, StoredSession } from "@atrium/contract/resources/snapshots.ts";
import { parseUser, type UserRecord } from "@atrium/contract/resources/user.ts";
import { SqliteComments, SqliteFollows } from "./sqlite-content.ts";
import { SqliteDocuments, SqliteVersions } from "./sqlite-documents.ts";
import { SqliteEntries } from "./sqlite-entries.ts";
import { SqliteJournal } from "./sqlite-journal.ts";
import { SqliteChanges, SqliteEpochs, SqliteReceipts } from "./sqlite-log.ts";
import { SqliteChangedStores, SqliteDocumentNotes, SqliteEvents, SqliteOccupancy } from "./sqlite-outbox.ts";
import { SqliteStreams } from "./sqlite-streams.ts";
import { SqliteSuggestions } from "./sqlite-suggestions.ts";
import { SqlitePart, SqliteTables } from "./sqlite-tables.ts";
import { SqliteInboxUpdates, SqliteNotificationCounts, SqliteThreads } from "./sqlite-threads.ts";
import { SqliteWakes } from "./sqlite-wakes.ts";

/** Callers of the object pass it, and the object stores it for its alarms. */
export interface RoomIdentity {
  readonly accountId: string;
  readonly roomId: string;
}

/** The room's only row: identity, stats, and the version of the stats that the database has. */
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
  /** The ID of the occupancy period; null while no one is online. */
  readonly sessionId: string | null;
}

/** The database's latest word on a user, which decides whether its tokens open the room. */
export interface Standing {
  readonly rights: Rights;
  readonly isGuest: boolean;
  readonly tokenEpoch: number;
  /** Null for a user of its own. */
  readonly identityId: string | null;
  /** Null without an identity, and when it was deleted. */
  readonly identityEpoch: number | null;
}

/** The session of a user who is online, with the user as the other participants see them. */
export interface OpenSession {
  readonly id: string;
  readonly joinedAt: number;
  readonly user: UserRecord;
  /** Absent until a socket has joined. */
  readonly standing?: Standing;
}

/** The user of a session, and the time of its end; null while it is open. */
export type Stay = Pick<StoredSession, "userId" | "leftAt">;

/** A user who stays online without a socket: the last one broke, and may be replaced until `endsAt`. */
export interface GracePeriod {
  readonly userId: string;
  /** Epoch milliseconds, like all times here. */
  readonly endsAt: number;
  /** The end of the session if no socket replaces the broken one. */
  readonly leftAt: number;
  /** The presence state of a user whom REST keeps online; absent where a client may come back with it. */
  readonly state?: Readonly<Record<string, unknown>> | null;
  /** The color that the service shows with the state, an index of `PERSON_COLORS`; null for a color of its own. */
  readonly color?: number | null;
}

const parseState = (json: string) => JSON.parse(json) as Readonly<Record<string, unknown>> | null;

class SqliteGracePeriods extends SqlitePart {
  put({ userId, endsAt, leftAt, state, color = null }: GracePeriod): void {
    const row = { user_id: userId, ends_at: endsAt, left_at: leftAt };
    const json = state === undefined ? null : JSON.stringify(state);
    this.tables.insert("grace_periods", { ...row, state: json, color }, "INSERT OR REPLACE");
  }

  delete(userId: string): void {
    this.tables.write("DELETE FROM grace_periods WHERE user_id = ?", userId);
  }

  list(): GracePeriod[] {
    const query = `SELECT user_id AS userId, ends_at AS endsAt, left_at AS leftAt, state, color
      FROM grace_periods ORDER BY ends_at, user_id`;
    return this.tables
      .read<Omit<GracePeriod, "state"> & { state: string | null }>(query)
      .map(({ state, ...period }) => (state === null ? period : { ...period, state: parseState(state) }));
  }
}

export class SqliteStorage extends SqliteTables {
  readonly #journal = new SqliteJournal(this);
  readonly changes = new SqliteChanges(this, this.#journal);
  readonly epochs = new SqliteEpochs(this);
  readonly receipts = new SqliteReceipts(this, this.#journal);
  readonly entries = new SqliteEntries(this, this.#journal);
  readonly comments = new SqliteComments(this);
  readonly threads = new SqliteThreads(this);
  readonly wakes = new SqliteWakes(this);
  readonly follows = new SqliteFollows(this);
  readonly documents = new SqliteDocuments(this);
  readonly versions = new SqliteVersions(this);
  readonly suggestions = new SqliteSuggestions(this);
  readonly streams = new SqliteStreams(this);
  readonly events: SqliteEvents;
  readonly inboxUpdates: SqliteInboxUpdates;
  readonly notificationCounts = new SqliteNotificationCounts(this);
  readonly changedStores = new SqliteChangedStores(this);
  readonly documentNotes = new SqliteDocumentNotes(this);
  readonly occupancy = new SqliteOccupancy(this);
  readonly gracePeriods = new SqliteGracePeriods(this);

  /** Calls `eventRecorded` in the turn that records an event or an update for inboxes. `trace` is that of the current request, as JSON. */
  constructor(
    storage: DurableObjectStorage,
    eventRecorded: () => void = () => {},
    trace: () => string | null = () => null,
  ) {
    super(storage);
    this.events = new SqliteEvents(this, eventRecorded, trace);
    this.inboxUpdates = new SqliteInboxUpdates(this, eventRecorded);
  }

  readRecord(): RoomRecord | null {
    return this.find<RoomRecord>(
      `SELECT account_id AS accountId, room_id AS roomId, active_participants AS activeParticipants,
         occupied_ms AS occupiedMs, occupied_since AS occupiedSince, version, copied_version AS copiedVersion,
         last_alive_at AS lastAliveAt, session_id AS sessionId
       FROM room`,
    );
  }

  writeRecord(record: RoomRecord): void {
    this.write(
      "INSERT OR REPLACE INTO room VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      ...[record.accountId, record.roomId, record.activeParticipants, record.occupiedMs],
      ...[record.occupiedSince, record.version, record.copiedVersion, record.lastAliveAt],
      record.sessionId,
    );
  }

  /** Throws if the user has an open session. */
  insertSession({ id, joinedAt, user, standing }: OpenSession): void {
    this.insert("sessions", {
      id,
      user_id: user.id,
      joined_at: joinedAt,
      user: JSON.stringify(user),
      standing: standing === undefined ? null : JSON.stringify(standing),
    });
  }

  /** Ends the user's open session. */
  endSession(userId: string, leftAt: number): void {
    this.write(
      `UPDATE sessions SET left_at = ?, user = NULL, standing = NULL
       WHERE user_id = ? AND left_at IS NULL`,
      leftAt,
      userId,
    );
  }

  /** Updates the user in their open session, if any. */
  updateUser(user: UserRecord): void {
    const json = JSON.stringify(user);
    this.write("UPDATE sessions SET user = ? WHERE user_id = ? AND left_at IS NULL", json, user.id);
  }

  /** Updates the standing in the user's open session, if any. */
  updateStanding(userId: string, standing: Standing): void {
    const json = JSON.stringify(standing);
    this.write("UPDATE sessions SET standing = ? WHERE user_id = ? AND left_at IS NULL", json, userId);
  }

  deleteSessions(userId: string): void {
    this.write("DELETE FROM sessions WHERE user_id = ?", userId);
  }

  listOpenSessions(): OpenSession[] {
    return this.read<Pick<OpenSession, "id" | "joinedAt"> & { user: string; standing: string | null }>(
      "SELECT id, joined_at AS joinedAt, user, standing FROM sessions WHERE left_at IS NULL ORDER BY seq",
    ).map(({ user, standing, ...row }) => ({
      ...row,
      user: parseUser(user),
      ...(standing !== null && { standing: JSON.parse(standing) as Standing }),
    }));
  }

  /** Lists sessions, newest first. `beforeId`: only sessions older than this one. */
  listSessions(userId: string, limit: number, beforeId?: string): StoredSession[] {
    const before =
      beforeId === undefined ? "" : "AND seq < (SELECT seq FROM sessions WHERE user_id = ? AND id = ?)";
    return this.read<StoredSession>(
      `SELECT id, user_id AS userId, joined_at AS joinedAt, left_at AS leftAt FROM sessions
       WHERE user_id = ? ${before} ORDER BY seq DESC LIMIT ?`,
      ...[userId, ...(beforeId === undefined ? [] : [userId, beforeId]), limit],
    );
  }

  listLatestStays(limit: number): Stay[] {
    const query = "SELECT user_id AS userId, left_at AS leftAt FROM sessions ORDER BY seq DESC LIMIT ?";
    return this.read<Stay>(query, limit);
  }

  findLastSeen(userIds: readonly string[]): Record<string, LastSeen> {
    // The ids are one JSON parameter: a statement can have at most 100 parameters.
    const rows = this.read<Omit<StoredSession, "id">>(
      `SELECT user_id AS userId, joined_at AS joinedAt, left_at AS leftAt FROM json_each(?) AS wanted
       JOIN sessions ON seq = (SELECT max(seq) FROM sessions WHERE user_id = wanted.value)`,
      JSON.stringify(userIds),
    );
    return Object.fromEntries(
      rows.map(({ userId, joinedAt, leftAt }) => [userId, { online: leftAt === null, joinedAt }]),
    );
  }
}

/** The storage as the Room sees it: synchronous, transactional, empty until the first write. Reading creates nothing. */
export type RoomStorage = Omit<
  SqliteStorage,
  | "read"
  | "find"
  | "scan"
  | "write"
  | "insert"
  | "countWrite"
  | "together"
  | "commit"
  | "isRefused"
  | "writes"
  | "isInTransaction"
  | "onCommitting"
  | "onUndone"
>;
