/** The room's storage in the SQLite database of its Durable Object. */
import type { LastSeen, StoredSession } from "../../wire/snapshots.ts";
import type { UserRecord } from "../../wire/user.ts";
import { SqliteComments, SqliteFollows } from "./sqlite-content.ts";
import { SqliteDocuments } from "./sqlite-documents.ts";
import { SqliteEntries } from "./sqlite-entries.ts";
import { SqliteChanges, SqliteEpochs } from "./sqlite-log.ts";
import { SqliteChangedStores, SqliteDocumentNotes, SqliteEvents, SqliteOccupancy } from "./sqlite-outbox.ts";
import { SqlitePart } from "./sqlite-part.ts";
import { SqliteReceipts } from "./sqlite-receipts.ts";
import { SqliteTables } from "./sqlite-tables.ts";
import { SqliteVersions } from "./sqlite-versions.ts";
import type { GracePeriod, GracePeriodTable, OpenSession, RoomRecord, RoomStorage, Stay } from "./storage.ts";

/** The users in SQLite who stay online without a socket for a moment. */
type GraceRow = { user_id: string; ends_at: number; left_at: number; state: string | null };

/** As {@link SqliteGracePeriods} wrote it. */
const parseState = (json: string): Readonly<Record<string, unknown>> | null =>
  JSON.parse(json) as Readonly<Record<string, unknown>> | null;

class SqliteGracePeriods extends SqlitePart implements GracePeriodTable {
  put({ userId, endsAt, leftAt, state }: GracePeriod): void {
    const insert = "INSERT OR REPLACE INTO graces (user_id, ends_at, left_at, state) VALUES (?, ?, ?, ?)";
    this.tables.write(insert, userId, endsAt, leftAt, state === undefined ? null : JSON.stringify(state));
  }

  delete(userId: string): void {
    this.tables.write("DELETE FROM graces WHERE user_id = ?", userId);
  }

  list(): GracePeriod[] {
    return this.tables.read<GraceRow>("SELECT * FROM graces ORDER BY ends_at, user_id").map((row) => ({
      ...{ userId: row.user_id, endsAt: row.ends_at, leftAt: row.left_at },
      ...(row.state !== null && { state: parseState(row.state) }),
    }));
  }
}

type RecordRow = {
  account_id: string;
  room_id: string;
  active_participants: number;
  occupied_ms: number;
  occupied_since: number | null;
  version: number;
  copied_version: number;
  last_alive_at: number;
};

type SessionRow = { id: string; user_id: string; joined_at: number; left_at: number | null };

export class SqliteStorage extends SqliteTables implements RoomStorage {
  readonly changes: SqliteChanges;
  readonly epochs: SqliteEpochs;
  readonly receipts: SqliteReceipts;
  readonly entries: SqliteEntries;
  readonly comments: SqliteComments;
  readonly follows: SqliteFollows;
  readonly documents: SqliteDocuments;
  readonly versions: SqliteVersions;
  readonly events: SqliteEvents;
  readonly changedStores: SqliteChangedStores;
  readonly documentNotes: SqliteDocumentNotes;
  readonly occupancy: SqliteOccupancy;
  readonly gracePeriods: SqliteGracePeriods;

  /**
   * `eventRecorded` is called within the turn that records an event: the outbox is to be drained after it. `trace` is
   * that of the request for which the room acts, as JSON.
   */
  constructor(
    storage: DurableObjectStorage,
    eventRecorded: () => void = () => {},
    trace: () => string | null = () => null,
  ) {
    super(storage);
    this.changes = new SqliteChanges(this);
    this.epochs = new SqliteEpochs(this);
    this.receipts = new SqliteReceipts(this);
    this.entries = new SqliteEntries(this);
    this.comments = new SqliteComments(this);
    this.follows = new SqliteFollows(this);
    this.documents = new SqliteDocuments(this);
    this.versions = new SqliteVersions(this);
    this.events = new SqliteEvents(this, eventRecorded, trace);
    this.changedStores = new SqliteChangedStores(this);
    this.documentNotes = new SqliteDocumentNotes(this);
    this.occupancy = new SqliteOccupancy(this);
    this.gracePeriods = new SqliteGracePeriods(this);
  }

  readRecord(): RoomRecord | null {
    const row = this.read<RecordRow>("SELECT * FROM room")[0];
    if (row === undefined) return null;
    return {
      accountId: row.account_id,
      roomId: row.room_id,
      activeParticipants: row.active_participants,
      occupiedMs: row.occupied_ms,
      occupiedSince: row.occupied_since,
      version: row.version,
      copiedVersion: row.copied_version,
      lastAliveAt: row.last_alive_at,
    };
  }

  writeRecord(record: RoomRecord): void {
    this.write(
      "INSERT OR REPLACE INTO room VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)",
      ...[record.accountId, record.roomId, record.activeParticipants, record.occupiedMs],
      ...[record.occupiedSince, record.version, record.copiedVersion, record.lastAliveAt],
    );
  }

  insertSession({ id, joinedAt, user }: OpenSession): void {
    this.write(
      "INSERT INTO sessions (id, user_id, joined_at, user) VALUES (?, ?, ?, ?)",
      id,
      user.id,
      joinedAt,
      JSON.stringify(user),
    );
  }

  endSession(sessionId: string, leftAt: number): void {
    this.write("UPDATE sessions SET left_at = ?, user = NULL WHERE id = ?", leftAt, sessionId);
  }

  updateUser(user: UserRecord): void {
    const json = JSON.stringify(user);
    this.write("UPDATE sessions SET user = ? WHERE user_id = ? AND left_at IS NULL", json, user.id);
  }

  deleteSessions(userId: string): void {
    this.write("DELETE FROM sessions WHERE user_id = ?", userId);
  }

  listOpenSessions(): OpenSession[] {
    return this.read<{ id: string; joined_at: number; user: string }>(
      "SELECT id, joined_at, user FROM sessions WHERE left_at IS NULL ORDER BY seq",
    ).map((row) => ({ id: row.id, joinedAt: row.joined_at, user: parseUser(row.user) }));
  }

  listSessions(userId: string, limit: number, beforeId?: string): StoredSession[] {
    const before = beforeId === undefined ? "" : "AND seq < (SELECT seq FROM sessions WHERE id = ?)";
    return this.read<SessionRow>(
      `SELECT id, user_id, joined_at, left_at FROM sessions WHERE user_id = ? ${before} ORDER BY seq DESC LIMIT ?`,
      ...[userId, ...(beforeId === undefined ? [] : [beforeId]), limit],
    ).map((row) => ({ id: row.id, userId: row.user_id, joinedAt: row.joined_at, leftAt: row.left_at }));
  }

  listLatestStays(limit: number): Stay[] {
    const query = "SELECT user_id AS userId, left_at AS leftAt FROM sessions ORDER BY seq DESC LIMIT ?";
    return this.read<{ userId: string; leftAt: number | null }>(query, limit);
  }

  findLastSeen(userIds: readonly string[]): Record<string, LastSeen> {
    // The ids are one JSON parameter: a statement can have at most 100 parameters.
    const rows = this.read<Omit<SessionRow, "id">>(
      `SELECT user_id, joined_at, left_at FROM json_each(?) AS wanted
       JOIN sessions ON seq = (SELECT max(seq) FROM sessions WHERE user_id = wanted.value)`,
      JSON.stringify(userIds),
    );
    return Object.fromEntries(
      rows.map((row) => [row.user_id, { online: row.left_at === null, joinedAt: row.joined_at }]),
    );
  }

  clear(): void {
    this.drop();
    this.entries.forget();
  }
}

/** The user as `insertSession` and `updateUser` wrote it. */
const parseUser = (json: string): UserRecord => JSON.parse(json) as UserRecord;
