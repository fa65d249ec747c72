/** The room object's answers about its users. */

export interface RoomStats {
  readonly activeParticipants: number;
  /** Milliseconds in which at least one user was online, without the running stretch. */
  readonly occupiedMs: number;
  /** Epoch milliseconds since when at least one user has been online; null while the room is empty. */
  readonly occupiedSince: number | null;
}

export interface LastSeen {
  readonly online: boolean;
  /** Epoch milliseconds of the latest join. */
  readonly joinedAt: number;
}

export interface StoredSession {
  readonly id: string;
  readonly userId: string;
  /** Epoch milliseconds. */
  readonly joinedAt: number;
  /** Epoch milliseconds; null while the session is open. */
  readonly leftAt: number | null;
}

export interface UserSnapshot {
  readonly lastSeen: LastSeen | null;
  readonly sessions: readonly (StoredSession & { readonly roomId: string })[];
}
