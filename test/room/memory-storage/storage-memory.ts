/** The room's storage in memory, for tests of the room. */

import type {
  GracePeriod,
  GracePeriodTable,
  OpenSession,
  RoomRecord,
  RoomStorage,
  Stay,
} from "../../../src/room/storage/storage.ts";
import type { LastSeen, StoredSession } from "../../../src/wire/snapshots.ts";
import type { UserRecord } from "../../../src/wire/user.ts";
import { MemoryComments, MemoryEntries, MemoryFollows } from "./memory-content.ts";
import { MemoryDocuments } from "./memory-documents.ts";
import { MemoryChanges, MemoryEpochs } from "./memory-log.ts";
import { MemoryChangedStores, MemoryDocumentNotes, MemoryEvents, MemoryOccupancy } from "./memory-outbox.ts";
import { MemoryPart } from "./memory-part.ts";
import { MemoryReceipts } from "./memory-receipts.ts";
import { MemoryVersions } from "./memory-versions.ts";

/** The users in memory who stay online without a socket for a moment. */
const byEnd = (one: GracePeriod, other: GracePeriod): number =>
  one.endsAt - other.endsAt || (one.userId < other.userId ? -1 : 1);

class MemoryGracePeriods extends MemoryPart<readonly GracePeriod[]> implements GracePeriodTable {
  constructor() {
    super([]);
  }

  put(grace: GracePeriod): void {
    this.delete(grace.userId);
    this.state = [...this.state, grace].sort(byEnd);
  }

  delete(userId: string): void {
    this.state = this.state.filter((grace) => grace.userId !== userId);
  }

  list(): GracePeriod[] {
    return [...this.state];
  }
}

interface SessionRow extends StoredSession {
  /** Null once the session has ended. */
  readonly user: UserRecord | null;
}

export class MemoryStorage implements RoomStorage {
  #record: RoomRecord | null = null;
  /** Oldest first; rows are replaced, never mutated, so that a copy of the array is a snapshot. */
  #sessions: SessionRow[] = [];
  readonly changes = new MemoryChanges();
  readonly epochs = new MemoryEpochs();
  readonly receipts = new MemoryReceipts();
  readonly entries = new MemoryEntries();
  readonly comments = new MemoryComments();
  readonly follows = new MemoryFollows();
  readonly documents = new MemoryDocuments();
  readonly versions = new MemoryVersions();
  readonly events = new MemoryEvents();
  readonly changedStores = new MemoryChangedStores();
  readonly documentNotes = new MemoryDocumentNotes();
  readonly occupancy = new MemoryOccupancy();
  readonly gracePeriods = new MemoryGracePeriods();

  transaction<T>(work: () => T): T {
    const [record, sessions] = [this.#record, [...this.#sessions]];
    const undo = this.#parts().map((part) => part.snapshot());
    try {
      return work();
    } catch (error) {
      this.#record = record;
      this.#sessions = sessions;
      for (const restore of undo) restore();
      throw error;
    }
  }

  readRecord(): RoomRecord | null {
    return this.#record;
  }

  writeRecord(record: RoomRecord): void {
    this.#record = record;
  }

  insertSession({ id, joinedAt, user }: OpenSession): void {
    const clash = this.#sessions.some(
      (row) => row.id === id || (row.userId === user.id && row.leftAt === null),
    );
    if (clash) throw new Error(`Session ${id}, or an open session of its user, already exists`);
    this.#sessions.push({ id, userId: user.id, joinedAt, leftAt: null, user });
  }

  endSession(sessionId: string, leftAt: number): void {
    this.#sessions = this.#sessions.map((row) =>
      row.id === sessionId ? { ...row, leftAt, user: null } : row,
    );
  }

  updateUser(user: UserRecord): void {
    this.#sessions = this.#sessions.map((row) =>
      row.userId === user.id && row.leftAt === null ? { ...row, user } : row,
    );
  }

  deleteSessions(userId: string): void {
    this.#sessions = this.#sessions.filter((row) => row.userId !== userId);
  }

  listOpenSessions(): OpenSession[] {
    return this.#sessions.flatMap(({ id, joinedAt, user }) =>
      user === null ? [] : [{ id, joinedAt, user }],
    );
  }

  listSessions(userId: string, limit: number, beforeId?: string): StoredSession[] {
    const end = beforeId === undefined ? undefined : this.#sessions.findIndex(({ id }) => id === beforeId);
    return this.#sessions
      .slice(0, end === -1 ? 0 : end)
      .filter((row) => row.userId === userId)
      .reverse()
      .slice(0, limit)
      .map(({ user: _, ...session }) => session);
  }

  listLatestStays(limit: number): Stay[] {
    const latest = this.#sessions.toReversed().slice(0, limit);
    return latest.map(({ userId, leftAt }) => ({ userId, leftAt }));
  }

  findLastSeen(userIds: readonly string[]): Record<string, LastSeen> {
    const lastSeen: Record<string, LastSeen> = {};
    for (const userId of userIds) {
      const latest = this.listSessions(userId, 1)[0];
      if (latest !== undefined)
        lastSeen[userId] = { online: latest.leftAt === null, joinedAt: latest.joinedAt };
    }
    return lastSeen;
  }

  clear(): void {
    this.#record = null;
    this.#sessions = [];
    for (const part of this.#parts()) part.clear();
  }

  #parts() {
    const { changes, epochs, receipts, entries, comments, follows, documents } = this;
    const { versions, events, changedStores, documentNotes, occupancy, gracePeriods } = this;
    return [
      ...[changes, epochs, receipts, entries, comments, follows, documents],
      ...[versions, events, changedStores, documentNotes, occupancy, gracePeriods],
    ];
  }
}
