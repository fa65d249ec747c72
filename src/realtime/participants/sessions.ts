/** Who is online and since when, and the figures that follow from it: storage and memory in step. */
import type { RoomStats } from "../../rooms/schema.ts";
import type { RoomRow } from "../../rooms/table.ts";
import type { Attendance, UserRecord } from "../../users/schema.ts";
import { EventRecorder } from "../outbox/event-recorder.ts";
import type { OpenSession, RoomRecord, RoomStorage, StoredSession } from "../storage/storage.ts";

/** The sessions of one user that an answer shows. */
const MAX_LISTED_SESSIONS = 100;

const EMPTY_FIGURES: RoomStats = { activeParticipants: 0, occupiedMs: 0, occupiedSince: null };

const newRecord = ({ accountId, id }: RoomRow, now: number): RoomRecord => ({
  accountId,
  roomId: id,
  ...EMPTY_FIGURES,
  version: 0,
  copiedVersion: 0,
  lastAliveAt: now,
});

/**
 * The record after the number of users online became `activeParticipants` at `at`. The room is occupied from
 * the first user who comes to the last who goes.
 */
function recount(record: RoomRecord, activeParticipants: number, at: number): RoomRecord {
  const { occupiedMs, occupiedSince } = record;
  const empties = activeParticipants === 0 && occupiedSince !== null;
  return {
    ...record,
    activeParticipants,
    occupiedMs: empties ? occupiedMs + Math.max(0, at - occupiedSince) : occupiedMs,
    occupiedSince: activeParticipants === 0 ? null : (occupiedSince ?? at),
    version: record.version + 1,
    lastAliveAt: Math.max(record.lastAliveAt, at),
  };
}

export class Sessions {
  readonly #storage: RoomStorage;
  readonly #recorder: EventRecorder;
  readonly #online = new Map<string, OpenSession>();
  #record: RoomRecord | null = null;

  constructor(storage: RoomStorage, newId: () => string) {
    this.#storage = storage;
    this.#recorder = new EventRecorder(storage, newId);
    this.#load();
  }

  #load(): void {
    this.#record = this.#storage.readRecord();
    this.#online.clear();
    for (const session of this.#storage.listOpenSessions()) this.#online.set(session.user.id, session);
  }

  /** Null until somebody joins for the first time. */
  get record(): RoomRecord | null {
    return this.#record;
  }

  get stats(): RoomStats {
    if (this.#record === null) return EMPTY_FIGURES;
    const { activeParticipants, occupiedMs, occupiedSince } = this.#record;
    return { activeParticipants, occupiedMs, occupiedSince };
  }

  get(userId: string): OpenSession | undefined {
    return this.#online.get(userId);
  }

  /** The open sessions: one for each user online. */
  open(): OpenSession[] {
    return [...this.#online.values()];
  }

  list(userId: string): StoredSession[] {
    return this.#storage.listSessions(userId, MAX_LISTED_SESSIONS);
  }

  findAttendance(userIds: readonly string[]): Record<string, Attendance> {
    return this.#storage.findAttendance(userIds);
  }

  /** A user comes online in the room, whose row the database has just shown. */
  start(room: RoomRow, session: OpenSession): void {
    const { joinedAt } = session;
    const record = recount(this.#record ?? newRecord(room, joinedAt), this.#online.size + 1, joinedAt);
    this.#storage.transaction(() => {
      this.#storage.insertSession(session);
      this.#storage.writeRecord(record);
      this.#recorder.recordJoined(room, session, record);
    });
    this.#record = record;
    this.#online.set(session.user.id, session);
  }

  /** Users go offline, all at `at`; those who are not online are passed over. Returns the sessions that ended. */
  end(userIds: Iterable<string>, at: number): OpenSession[] {
    const ended = [...userIds].flatMap((userId) => this.#online.get(userId) ?? []);
    if (ended.length > 0) this.#end(ended, at);
    return ended;
  }

  #end(ended: readonly OpenSession[], at: number): void {
    if (this.#record === null) return;
    const record = recount(this.#record, this.#online.size - ended.length, at);
    this.#storage.transaction(() => {
      for (const session of ended) this.#storage.endSession(session.id, Math.max(session.joinedAt, at));
      this.#storage.writeRecord(record);
      this.#recorder.recordLeft(ended, at, record);
    });
    this.#record = record;
    for (const session of ended) this.#online.delete(session.user.id);
  }

  /**
   * Makes what is stored true again: `live` are the users who have a joined socket. A session without one was
   * cut off by a crash, and ended when the room was last known to run. Returns the sessions that were ended.
   */
  recover(live: ReadonlySet<string>): OpenSession[] {
    this.#load();
    const record = this.#record;
    if (record === null) return [];
    const dead = this.open().filter((session) => !live.has(session.user.id));
    const online = this.#online.size - dead.length;
    const isRight =
      record.activeParticipants === online && (record.occupiedSince === null) === (online === 0);
    if (dead.length > 0 || !isRight) this.#end(dead, record.lastAliveAt);
    return dead;
  }

  /** Notes that the room runs at `now`: after a crash, this is when its sessions will have ended. */
  recordAlive(now: number): void {
    if (this.#record === null || this.#online.size === 0 || this.#record.lastAliveAt >= now) return;
    this.#write({ ...this.#record, lastAliveAt: now });
  }

  /** Notes that the database's copy has `version`. The room may be gone since the copy was begun. */
  markProjected(version: number): void {
    if (this.#record === null || this.#record.copiedVersion >= version) return;
    this.#write({ ...this.#record, copiedVersion: version });
  }

  #write(record: RoomRecord): void {
    this.#storage.writeRecord(record);
    this.#record = record;
  }

  /** Notes the room's row as the database has it now. */
  updateRoom(room: RoomRow): void {
    if (this.#record !== null) this.#recorder.updateRoom(room);
  }

  /** Notes that the room has been closed. */
  close(): void {
    const room = this.#storage.occupancy.readRoom();
    if (room !== null) this.#storage.occupancy.writeRoom({ ...room, state: "closed" });
  }

  /** Whether there are events that are yet to be handed over. */
  get hasEvents(): boolean {
    return this.#storage.events.list(1).length > 0;
  }

  update(user: UserRecord): void {
    if (this.#record !== null) this.#recorder.updateUser(user);
    const session = this.#online.get(user.id);
    if (session === undefined) return;
    this.#storage.updateUser(user);
    this.#online.set(user.id, { ...session, user });
  }

  /** Removes what is remembered of a user who is offline. */
  deleteUser(userId: string): void {
    if (this.#record !== null) this.#storage.deleteSessions(userId);
  }

  clear(): void {
    this.#storage.transaction(() => this.#storage.clear());
    this.#load();
  }
}
