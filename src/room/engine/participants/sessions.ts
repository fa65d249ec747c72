/** The sessions of users online, their reconnect grace periods and the room's stats: memory and storage in step. */

import type { RoomFields } from "@atrium/contract/resources/room.ts";
import type { LastSeen, RoomStats, StoredSession } from "@atrium/contract/resources/snapshots.ts";
import { ERASED_FIELDS, type UserRecord } from "@atrium/contract/resources/user.ts";
import type {
  GracePeriod,
  OpenSession,
  RoomRecord,
  RoomStorage,
  Standing,
  Stay,
} from "../../storage/storage.ts";
import { type RecorderPorts, recordJoined, recordLeft } from "../outbox/room-events.ts";

/** Sessions of one user that are listed. */
const MAX_LISTED_SESSIONS = 100;

const EMPTY_STATS: RoomStats = { activeParticipants: 0, occupiedMs: 0, occupiedSince: null };

const newRecord = ({ accountId, id }: RoomFields, now: number): RoomRecord => ({
  accountId,
  roomId: id,
  ...EMPTY_STATS,
  version: 0,
  copiedVersion: 0,
  lastAliveAt: now,
  sessionId: null,
});

/**
 * The record after the number of users online became `activeParticipants` at `at` (epoch ms). The room is occupied from
 * the first join to the last leave: after a crash, lost users left earlier than users who came back.
 */
function countParticipants(record: RoomRecord, activeParticipants: number, at: number): RoomRecord {
  const { occupiedMs, occupiedSince } = record;
  const hasEmptied = activeParticipants === 0 && occupiedSince !== null;
  return {
    ...record,
    activeParticipants,
    occupiedMs: hasEmptied
      ? occupiedMs + Math.max(0, Math.max(at, record.lastAliveAt) - occupiedSince)
      : occupiedMs,
    occupiedSince: activeParticipants === 0 ? null : (occupiedSince ?? at),
    version: record.version + 1,
    lastAliveAt: Math.max(record.lastAliveAt, at),
    sessionId: activeParticipants === 0 ? null : record.sessionId,
  };
}

export class Sessions {
  readonly #ports: RecorderPorts;
  readonly #storage: RoomStorage;
  readonly #online = new Map<string, OpenSession>();
  /** The deadlines of users who are online without a socket. */
  readonly gracePeriods: GracePeriods;
  #record: RoomRecord | null = null;

  constructor(ports: RecorderPorts) {
    this.#ports = ports;
    this.#storage = ports.storage;
    this.gracePeriods = new GracePeriods(ports.storage);
    this.load();
  }

  /** Makes memory match the storage. */
  load(): void {
    this.#record = this.#storage.readRecord();
    this.#online.clear();
    for (const session of this.#storage.listOpenSessions()) this.#online.set(session.user.id, session);
    this.gracePeriods.load();
  }

  /** Null until the first join. */
  get record(): RoomRecord | null {
    return this.#record;
  }

  get stats(): RoomStats {
    if (this.#record === null) return EMPTY_STATS;
    const { activeParticipants, occupiedMs, occupiedSince } = this.#record;
    return { activeParticipants, occupiedMs, occupiedSince };
  }

  get(userId: string): OpenSession | undefined {
    return this.#online.get(userId);
  }

  /** The open sessions: one per user online. */
  open(): OpenSession[] {
    return [...this.#online.values()];
  }

  /** The sessions of users online who belong to an identity; null: to any identity. */
  ofIdentities(identityId: string | null): OpenSession[] {
    return this.open().filter(({ standing }) => {
      const own = standing?.identityId ?? null;
      return own !== null && (identityId === null || own === identityId);
    });
  }

  /** A user's sessions, newest first. */
  list(userId: string): StoredSession[] {
    return this.#storage.listSessions(userId, MAX_LISTED_SESSIONS);
  }

  /** Whether the user is online, or has been since then (epoch ms). */
  wasOnlineSince(userId: string, time: number): boolean {
    const [latest] = this.#storage.listSessions(userId, 1);
    return latest !== undefined && (latest.leftAt ?? Number.POSITIVE_INFINITY) >= time;
  }

  latestStays(limit: number): Stay[] {
    return this.#storage.listLatestStays(limit);
  }

  /** Last-seen times by user ID, without users who never joined. */
  findLastSeen(userIds: readonly string[]): Record<string, LastSeen> {
    return this.#storage.findLastSeen(userIds);
  }

  /** A user comes online: with a grace period, without a socket. `room` is the room's row as just read from the database. */
  start(room: RoomFields, session: OpenSession, grace: GracePeriod | null = null): void {
    const { joinedAt } = session;
    const before = this.#record ?? newRecord(room, joinedAt);
    const record = {
      ...countParticipants(before, this.#online.size + 1, joinedAt),
      sessionId: before.sessionId ?? this.#ports.newId(),
    };
    this.#storage.transaction(() => {
      this.#storage.insertSession(session);
      this.#storage.writeRecord(record);
      recordJoined(this.#ports, room, session, record, before.sessionId === null);
      if (grace !== null) this.gracePeriods.begin([grace]);
    });
    this.#record = record;
    this.#online.set(session.user.id, session);
  }

  /** Users go offline at `at` (epoch ms); those who are not online are skipped. Returns the ended sessions. */
  end(userIds: Iterable<string>, at: number): OpenSession[] {
    const ended = [...userIds].flatMap((userId) => this.#online.get(userId) ?? []);
    if (ended.length > 0) this.#end(ended, at);
    return ended;
  }

  #end(ended: readonly OpenSession[], at: number): void {
    if (this.#record === null) return;
    const { sessionId } = this.#record;
    const record = countParticipants(this.#record, this.#online.size - ended.length, at);
    this.#storage.transaction(() => {
      for (const session of ended) {
        this.#storage.endSession(session.user.id, Math.max(session.joinedAt, at));
        if (this.gracePeriods.has(session.user.id)) this.#storage.gracePeriods.delete(session.user.id);
      }
      this.#storage.writeRecord(record);
      recordLeft(this.#ports, ended, at, record, sessionId);
    });
    this.#record = record;
    for (const session of ended) {
      this.#online.delete(session.user.id);
      this.gracePeriods.forget(session.user.id);
    }
  }

  /**
   * Begins the grace periods, until `endsAt` (epoch ms), of users without a socket after a crash. False if
   * there are none.
   */
  waitForLost(live: ReadonlySet<string>, endsAt: number): boolean {
    const { lastAliveAt } = this.#record ?? { lastAliveAt: 0 };
    const lost = this.open().filter(({ user }) => !live.has(user.id) && !this.gracePeriods.has(user.id));
    if (lost.length === 0) return false;
    this.gracePeriods.begin(lost.map(({ user }) => ({ userId: user.id, endsAt, leftAt: lastAliveAt })));
    return true;
  }

  /**
   * Ends the sessions of users without a joined socket (`live`) or a grace period, at the time when the room was last
   * known to be running. Returns the ended sessions.
   */
  recover(live: ReadonlySet<string>): OpenSession[] {
    this.load();
    const record = this.#record;
    if (record === null) return [];
    for (const userId of live) this.gracePeriods.end(userId);
    const orphaned = this.open().filter(({ user }) => !live.has(user.id) && !this.gracePeriods.has(user.id));
    const online = this.#online.size - orphaned.length;
    const isConsistent =
      record.activeParticipants === online && (record.occupiedSince === null) === (online === 0);
    if (orphaned.length > 0 || !isConsistent) this.#end(orphaned, record.lastAliveAt);
    return orphaned;
  }

  /** Records that the room is running at `now`: after a crash, its sessions ended at this time. */
  recordAlive(now: number): void {
    if (this.#record === null || this.#online.size === 0 || this.#record.lastAliveAt >= now) return;
    this.#write({ ...this.#record, lastAliveAt: now });
  }

  /** Records that the database has the stats of `version`. The room may have been deleted since they were written. */
  markProjected(version: number): void {
    if (this.#record === null || this.#record.copiedVersion >= version) return;
    this.#write({ ...this.#record, copiedVersion: version });
  }

  #write(record: RoomRecord): void {
    this.#storage.writeRecord(record);
    this.#record = record;
  }

  /** Stores the room's current row, for later events, if an earlier one is stored. */
  updateRoom(room: RoomFields): void {
    const { occupancy } = this.#storage;
    if (occupancy.readRoom() !== null) occupancy.writeRoom(room);
  }

  /** Stores a user's new fields. */
  updateUser(user: UserRecord): void {
    if (this.#record !== null) this.#storage.occupancy.update(user);
    const session = this.#online.get(user.id);
    if (session === undefined) return;
    this.#storage.updateUser(user);
    this.#online.set(user.id, { ...session, user });
  }

  /** Stores the database's word on a user who is online, if it is news. Not in a transaction, which may be undone. */
  recordStanding(userId: string, standing: Standing): void {
    const session = this.#online.get(userId);
    if (session === undefined || JSON.stringify(session.standing) === JSON.stringify(standing)) return;
    this.#storage.updateStanding(userId, standing);
    this.#online.set(userId, { ...session, standing });
  }

  /** Later events of the current occupancy period show an erased user. */
  eraseParticipant(userId: string): void {
    const { occupancy } = this.#storage;
    const found = occupancy.list().find(({ user }) => user.id === userId);
    const { nameFolded: _, ...erased } = ERASED_FIELDS;
    if (found !== undefined) occupancy.update({ ...found.user, ...erased });
  }

  /** Deletes the ended sessions of a user who is offline. Throws when the last one could not be ended yet. */
  deleteUser(userId: string): void {
    if (this.#online.has(userId)) throw new Error("The user's session has not ended yet");
    if (this.#record !== null) this.#storage.deleteSessions(userId);
  }
}

/** The deadlines of users without a socket: their last one broke, or REST keeps them online. */
class GracePeriods {
  readonly #storage: RoomStorage;
  readonly #byUser = new Map<string, GracePeriod>();

  constructor(storage: RoomStorage) {
    this.#storage = storage;
  }

  /** Makes memory match the storage. */
  load(): void {
    this.#byUser.clear();
    for (const grace of this.#storage.gracePeriods.list()) this.#byUser.set(grace.userId, grace);
  }

  /** Begins or replaces grace periods of users who are online without a socket. */
  begin(gracePeriods: readonly GracePeriod[]): void {
    this.#storage.transaction(() => {
      for (const grace of gracePeriods) this.#storage.gracePeriods.put(grace);
    });
    for (const grace of gracePeriods) this.#byUser.set(grace.userId, grace);
  }

  /** The user has a socket again. False if the user had one all the time, or is not online. */
  end(userId: string): boolean {
    if (!this.#byUser.has(userId)) return false;
    this.#storage.gracePeriods.delete(userId);
    this.forget(userId);
    return true;
  }

  /** The storage has deleted the user's grace period. */
  forget(userId: string): void {
    this.#byUser.delete(userId);
  }

  has(userId: string): boolean {
    return this.#byUser.has(userId);
  }

  /** The users whom REST keeps online and who show a state. */
  shown(): Pick<Required<GracePeriod>, "userId" | "state" | "color">[] {
    return [...this.#byUser.values()].flatMap(({ userId, state, color = null }) =>
      state ? [{ userId, state, color }] : [],
    );
  }

  users(): string[] {
    return [...this.#byUser.keys()];
  }

  /** The users whose grace period has ended at `now` (epoch ms). */
  due(now: number): string[] {
    return [...this.#byUser.values()].flatMap(({ userId, endsAt }) => (endsAt <= now ? [userId] : []));
  }

  /** The users by the time when they left (epoch ms), earliest first: `now` without a grace period, or during it. */
  byLeaving(userIds: Iterable<string>, now: number): [leftAt: number, userIds: string[]][] {
    const users = new Map<number, string[]>();
    for (const userId of userIds) {
      const leftAt = Math.min(this.#byUser.get(userId)?.leftAt ?? now, now);
      users.set(leftAt, [...(users.get(leftAt) ?? []), userId]);
    }
    return [...users].sort(([one], [other]) => one - other);
  }

  /** When the next one ends (epoch ms); null when no one is online without a socket. */
  get nextEnd(): number | null {
    let next: number | null = null;
    for (const { endsAt } of this.#byUser.values()) next = Math.min(next ?? endsAt, endsAt);
    return next;
  }
}
