/** When the room must act without being asked: the deadlines of its sockets, and the alarm they need. */
import { JOIN_DEADLINE_MS, SILENCE_MS, SWEEP_INTERVAL_MS } from "../protocol/protocol.ts";
import type { Authorizing, Connection, Waiting } from "./connection.ts";

/** Sockets that do not join are closed together, so that a thousand of them need few alarms: each one is stored. */
const JOIN_GRANULARITY_MS = 250;
const NEVER = Number.NEGATIVE_INFINITY;

/** Why a socket must be closed. */
export type Overdue = "joinTimeout" | "silent" | "tokenExpired";

/** When a socket must have joined. The time in which the room holds joins does not count for one that has asked to. */
const joinDeadline = ({ phase, openedAt }: Waiting | Authorizing, heldUntil: number): number =>
  (phase === "waiting" ? openedAt : Math.max(openedAt, heldUntil)) + JOIN_DEADLINE_MS;

/** The deadline that a socket has missed at `now`; null when it may stay. Joins are held until `heldUntil`. */
export function findOverdue(connection: Connection, now: number, heldUntil = NEVER): Overdue | null {
  if (connection.phase !== "joined") return now >= joinDeadline(connection, heldUntil) ? "joinTimeout" : null;
  if (now >= connection.lastSeenAt + SILENCE_MS) return "silent";
  return now >= connection.tokenExpiresAt ? "tokenExpired" : null;
}

/**
 * When to check the sockets next (epoch ms); null without sockets. While a user is online that is at most
 * {@link SWEEP_INTERVAL_MS} ahead: the alarm survives a crash, and it is what repairs the room afterwards.
 */
export function planAlarm(now: number, connections: Iterable<Connection>, heldUntil = NEVER): number | null {
  let next = Number.POSITIVE_INFINITY;
  for (const connection of connections) {
    const dueAt =
      connection.phase === "joined"
        ? Math.min(connection.lastSeenAt + SILENCE_MS, now + SWEEP_INTERVAL_MS)
        : Math.ceil(joinDeadline(connection, heldUntil) / JOIN_GRANULARITY_MS) * JOIN_GRANULARITY_MS;
    next = Math.min(next, dueAt);
  }
  return Number.isFinite(next) ? next : null;
}
