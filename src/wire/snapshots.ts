/** What a room's object returns about its users to the rest of the Worker. */

/** The counters that a room's object owns, at one moment. */
export interface RoomStats {
  /** Users online. */
  readonly activeParticipants: number;
  /** Milliseconds in which at least one user was online, without the running stretch. */
  readonly occupiedMs: number;
  /** Epoch milliseconds since when at least one user has been online; null while the room is empty. */
  readonly occupiedSince: number | null;
}

/** What a room's object knows of one user's time online. */
export interface LastSeen {
  readonly online: boolean;
  /** Epoch milliseconds of the latest join. */
  readonly joinedAt: number;
}

/** A user's session as the object stores it. */
export interface StoredSession {
  readonly id: string;
  readonly userId: string;
  /** Epoch milliseconds. */
  readonly joinedAt: number;
  /** Epoch milliseconds; null while the session is open. */
  readonly leftAt: number | null;
}

/** The room's stats, and the lastSeen of some users. */
export interface RoomSnapshot {
  readonly stats: RoomStats;
  /** By user id, for those who have ever joined. */
  readonly lastSeen: Record<string, LastSeen>;
}

/** One user's lastSeen and sessions. */
export interface UserSnapshot {
  /** Null before the first join. */
  readonly lastSeen: LastSeen | null;
  /** Newest first, at most 100. */
  readonly sessions: readonly (StoredSession & { readonly roomId: string })[];
}

export interface Reconciliation {
  /** The counter before and after. */
  readonly previous: number;
  readonly reconciled: number;
  readonly stats: RoomStats;
}
