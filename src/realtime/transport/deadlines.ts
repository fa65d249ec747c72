/** When the room must act without being asked: the deadlines of its sockets, and the alarm they need. */
import { JOIN_DEADLINE_MS, SILENCE_MS, SWEEP_INTERVAL_MS } from "../protocol/protocol.ts";
import type { Connection } from "./connection.ts";

/** Sockets that do not join are closed together, so that a thousand of them need few alarms: each one is stored. */
const JOIN_GRANULARITY_MS = 250;

/** Why a socket must be closed. */
export type Overdue = "joinTimeout" | "silent" | "tokenExpired";

/** The deadline that a socket has missed at `now`; null when it may stay. */
export function findOverdue(connection: Connection, now: number): Overdue | null {
  if (connection.phase !== "joined")
    return now >= connection.openedAt + JOIN_DEADLINE_MS ? "joinTimeout" : null;
  if (now >= connection.lastSeenAt + SILENCE_MS) return "silent";
  return now >= connection.tokenExpiresAt ? "tokenExpired" : null;
}

/**
 * When to check the sockets next (epoch ms); null without sockets. While a user is online that is at most
 * {@link SWEEP_INTERVAL_MS} ahead: the alarm survives a crash, and it is what repairs the room afterwards.
 */
export function planAlarm(now: number, connections: Iterable<Connection>): number | null {
  let next = Number.POSITIVE_INFINITY;
  for (const connection of connections) {
    const dueAt =
      connection.phase === "joined"
        ? Math.min(connection.lastSeenAt + SILENCE_MS, now + SWEEP_INTERVAL_MS)
        : Math.ceil((connection.openedAt + JOIN_DEADLINE_MS) / JOIN_GRANULARITY_MS) * JOIN_GRANULARITY_MS;
    next = Math.min(next, dueAt);
  }
  return Number.isFinite(next) ? next : null;
}
