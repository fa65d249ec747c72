/** When the room must act by itself: the deadlines of its sockets, and the next alarm that they ask for. */

import { JOIN_DEADLINE_MS, SILENCE_MS, SWEEP_INTERVAL_MS } from "../protocol/protocol.ts";
import type { Connection, Joined } from "./connections.ts";

/**
 * How old the sign of life that is kept with a socket may get before it is rewritten. After hibernation a
 * socket that sends messages but no pings is held dead by up to this much too late, and never too early.
 */
export const HEARD_GRANULARITY_MS = 5_000;

/** What is wrong with a socket at `now`; null when it may stay. */
export type Overdue = "joinTimeout" | "silent" | "tokenExpired";

export function findOverdue(connection: Connection, now: number): Overdue | null {
  if (connection.phase !== "joined")
    return now >= connection.openedAt + JOIN_DEADLINE_MS ? "joinTimeout" : null;
  if (now >= connection.heardAt + SILENCE_MS) return "silent";
  return now >= connection.tokenExpiresAt ? "tokenExpired" : null;
}

/** The socket after hibernation: it may have been heard until shortly before the kept sign would be rewritten. */
export const afterHibernation = (connection: Joined): Joined => ({
  ...connection,
  heardAt: connection.savedHeardAt + HEARD_GRANULARITY_MS,
});

/** True when the sign of life that is kept with the socket is too old to be left so. */
export const needsSaving = (connection: Joined): boolean =>
  connection.heardAt - connection.savedHeardAt >= HEARD_GRANULARITY_MS;

/**
 * When to look at the room next, or null when nothing will be due. While somebody is online that is never
 * more than {@link SWEEP_INTERVAL_MS} ahead: the alarm outlives a crash, and it is what heals the room then.
 */
export function planAlarm(
  now: number,
  connections: Iterable<Connection>,
  copyDueAt: number | null,
): number | null {
  let next = copyDueAt ?? Number.POSITIVE_INFINITY;
  for (const connection of connections) {
    const dueAt =
      connection.phase === "joined"
        ? Math.min(connection.heardAt + SILENCE_MS, now + SWEEP_INTERVAL_MS)
        : connection.openedAt + JOIN_DEADLINE_MS;
    next = Math.min(next, dueAt);
  }
  return Number.isFinite(next) ? next : null;
}
