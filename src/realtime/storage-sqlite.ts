/** The room's storage in the SQLite database of its Durable Object. */
import type { Attendance, UserRecord } from "../users/schema.ts";
import type { OpenSession, RoomRecord, RoomStorage, StoredSession } from "./storage.ts";

/** `seq` orders the sessions that began in one millisecond; the partial index holds one open session a user. */
const TABLES = `
  CREATE TABLE room (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    account_id TEXT NOT NULL,
    room_id TEXT NOT NULL,
    active_participants INTEGER NOT NULL,
    occupied_ms INTEGER NOT NULL,
    occupied_since INTEGER,
    version INTEGER NOT NULL,
    copied_version INTEGER NOT NULL,
    last_alive_at INTEGER NOT NULL
  );
  CREATE TABLE sessions (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL,
    joined_at INTEGER NOT NULL,
    left_at INTEGER,
    user TEXT
  );
  CREATE INDEX sessions_by_user ON sessions (user_id, seq);
  CREATE UNIQUE INDEX sessions_open ON sessions (user_id) WHERE left_at IS NULL;
`;

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

export class SqliteStorage implements RoomStorage {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  #hasTables: boolean;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.#hasTables =
      this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'sessions'").toArray().length > 0;
  }

  transaction<T>(work: () => T): T {
    const hadTables = this.#hasTables;
    try {
      return this.#storage.transactionSync(work);
    } catch (error) {
      this.#hasTables = hadTables; // tables are rolled back like rows
      throw error;
    }
  }

  readRecord(): RoomRecord | null {
    const row = this.#read<RecordRow>("SELECT * FROM room")[0];
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
    this.#write(
      "INSERT OR REPLACE INTO room VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)",
      record.accountId,
      record.roomId,
      record.activeParticipants,
      record.occupiedMs,
      record.occupiedSince,
      record.version,
      record.copiedVersion,
      record.lastAliveAt,
    );
  }

  insertSession({ id, joinedAt, user }: OpenSession): void {
    this.#write(
      "INSERT INTO sessions (id, user_id, joined_at, user) VALUES (?, ?, ?, ?)",
      id,
      user.id,
      joinedAt,
      JSON.stringify(user),
    );
  }

  endSession(sessionId: string, leftAt: number): void {
    this.#write("UPDATE sessions SET left_at = ?, user = NULL WHERE id = ?", leftAt, sessionId);
  }

  updateUser(user: UserRecord): void {
    const json = JSON.stringify(user);
    this.#write("UPDATE sessions SET user = ? WHERE user_id = ? AND left_at IS NULL", json, user.id);
  }

  deleteSessions(userId: string): void {
    this.#write("DELETE FROM sessions WHERE user_id = ?", userId);
  }

  listOpenSessions(): OpenSession[] {
    return this.#read<{ id: string; joined_at: number; user: string }>(
      "SELECT id, joined_at, user FROM sessions WHERE left_at IS NULL ORDER BY seq",
    ).map((row) => ({ id: row.id, joinedAt: row.joined_at, user: parseUser(row.user) }));
  }

  listSessions(userId: string, limit: number): StoredSession[] {
    return this.#read<SessionRow>(
      "SELECT id, user_id, joined_at, left_at FROM sessions WHERE user_id = ? ORDER BY seq DESC LIMIT ?",
      userId,
      limit,
    ).map((row) => ({ id: row.id, userId: row.user_id, joinedAt: row.joined_at, leftAt: row.left_at }));
  }

  findAttendance(userIds: readonly string[]): Record<string, Attendance> {
    // The ids travel as one JSON parameter, as a statement may have 100 at most.
    const rows = this.#read<Omit<SessionRow, "id">>(
      `SELECT user_id, joined_at, left_at FROM json_each(?) AS wanted
       JOIN sessions ON seq = (SELECT max(seq) FROM sessions WHERE user_id = wanted.value)`,
      JSON.stringify(userIds),
    );
    return Object.fromEntries(
      rows.map((row) => [row.user_id, { online: row.left_at === null, joinedAt: row.joined_at }]),
    );
  }

  clear(): void {
    if (!this.#hasTables) return;
    this.#sql.exec("DROP TABLE sessions; DROP TABLE room;");
    this.#hasTables = false;
  }

  #read<Row extends Record<string, SqlStorageValue>>(query: string, ...params: SqlStorageValue[]): Row[] {
    return this.#hasTables ? this.#sql.exec<Row>(query, ...params).toArray() : [];
  }

  #write(query: string, ...params: SqlStorageValue[]): void {
    if (!this.#hasTables) {
      this.#sql.exec(TABLES);
      this.#hasTables = true;
    }
    this.#sql.exec(query, ...params);
  }
}

/** The user as `insertSession` and `updateUser` wrote it. */
const parseUser = (json: string): UserRecord => JSON.parse(json) as UserRecord;
