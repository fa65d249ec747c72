/** What a room's object tells the rest of the Worker of those who are and were there. */
import type { RoomStats } from "../rooms/schema.ts";
import type { Attendance } from "../users/schema.ts";
import type { StoredSession } from "./storage/storage.ts";

/** What the object knows of the users that a list shows. */
export interface RoomSnapshot {
  readonly figures: RoomStats;
  /** By user id, for those who ever joined. */
  readonly attendance: Record<string, Attendance>;
}

/** What the object knows of one user. */
export interface UserSnapshot {
  /** Null before the first join. */
  readonly attendance: Attendance | null;
  /** Newest first, 100 at most. */
  readonly sessions: readonly (StoredSession & { readonly roomId: string })[];
}

export interface Reconciliation {
  /** The counter as it was, and as it is now. */
  readonly previous: number;
  readonly reconciled: number;
  readonly figures: RoomStats;
}
