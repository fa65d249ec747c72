/** What a room's object returns about its users to the rest of the Worker. */
import type { RoomStats } from "../../rooms/schema.ts";
import type { Attendance } from "../../users/schema.ts";
import type { StoredSession } from "../storage/storage.ts";

/** The room's stats, and the attendance of some users. */
export interface RoomSnapshot {
  readonly stats: RoomStats;
  /** By user id, for those who have ever joined. */
  readonly attendance: Record<string, Attendance>;
}

/** One user's attendance and sessions. */
export interface UserSnapshot {
  /** Null before the first join. */
  readonly attendance: Attendance | null;
  /** Newest first, at most 100. */
  readonly sessions: readonly (StoredSession & { readonly roomId: string })[];
}

export interface Reconciliation {
  /** The counter before and after. */
  readonly previous: number;
  readonly reconciled: number;
  readonly stats: RoomStats;
}
