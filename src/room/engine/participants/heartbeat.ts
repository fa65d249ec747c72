/** Which sockets live: their signs of life, their deadlines, and when the room has to look at them. */
import { CLOSE } from "../../protocol/close.ts";
import { SILENCE_MS } from "../../protocol/protocol.ts";
import { type Joined, LAST_SEEN_GRANULARITY_MS, type Waiting } from "../../transport/connection.ts";
import { findOverdue, type Overdue, planAlarm } from "../../transport/deadlines.ts";
import type { Effect } from "../../transport/effects.ts";
import type { CloseReason, Participants } from "./participants.ts";

interface HeartbeatPorts {
  now(): number;
  /** When the runtime last answered the socket's ping, which does not reach the room (epoch ms); null if never. */
  lastPingAt(id: string): number | null;
  /** Reports an unexpected failure to the service's log. */
  report(what: string, error: unknown): void;
}

const TOKEN_EXPIRED: CloseReason = {
  code: "UNAUTHORIZED",
  message: "The token has expired",
  authFailed: true,
};

export class Heartbeat {
  readonly #ports: HeartbeatPorts;
  readonly #participants: Participants;
  /** Until then, the room reads no joins (epoch ms). */
  joinsHeldUntil = Number.NEGATIVE_INFINITY;

  constructor(ports: HeartbeatPorts, participants: Participants) {
    this.#ports = ports;
    this.#participants = participants;
  }

  /** A socket that survived hibernation. It may have been seen until shortly before its attachment was due again. */
  restore(connection: Waiting | Joined): Waiting | Joined {
    if (connection.phase === "waiting") return connection;
    const lastSeenAt = connection.savedLastSeenAt + LAST_SEEN_GRANULARITY_MS;
    return this.#withPings({ ...connection, lastSeenAt });
  }

  #withPings(connection: Joined): Joined {
    const pingedAt = this.#ports.lastPingAt(connection.id) ?? 0;
    return pingedAt > connection.lastSeenAt ? { ...connection, lastSeenAt: pingedAt } : connection;
  }

  /** Closes the sockets that have missed a deadline, and records that the room is running. */
  sweep(): Effect[] {
    const { joinTimeout, silent, tokenExpired } = this.#findOverdue();
    const silence = `silent for ${SILENCE_MS / 1000} s`;
    const effects = [
      ...this.#participants.disconnect(joinTimeout, CLOSE.joinTimeout, "no JOIN_ROOM in time"),
      ...this.#participants.interrupt(silent, CLOSE.silent, silence),
      ...this.#participants.disconnectFor(tokenExpired, TOKEN_EXPIRED),
      ...this.#participants.endDueGraces(),
    ];
    this.#recordAlive();
    return effects;
  }

  /** Without it, a crash would end the sessions earlier than they did: no reason to keep the effects from others. */
  #recordAlive(): void {
    if (this.#participants.connections.joinedCount === 0) return;
    try {
      this.#participants.sessions.recordAlive(this.#ports.now());
    } catch (error) {
      this.#ports.report("A room could not record that it is running", error);
    }
  }

  #findOverdue(): Record<Overdue, string[]> {
    const overdue: Record<Overdue, string[]> = { joinTimeout: [], silent: [], tokenExpired: [] };
    const { connections } = this.#participants;
    for (const connection of connections.all()) {
      const current = connection.phase === "joined" ? this.#withPings(connection) : connection;
      if (current.phase === "joined") connections.update(current);
      const reason = findOverdue(current, this.#ports.now(), this.joinsHeldUntil);
      if (reason !== null) overdue[reason].push(current.id);
    }
    return overdue;
  }

  /** When to call {@link sweep} next (epoch ms); null when no one is online, and no socket waits. */
  sweepAt(): number | null {
    const { connections, sessions } = this.#participants;
    const socketAt = planAlarm(this.#ports.now(), connections.all(), this.joinsHeldUntil);
    const graceAt = sessions.graces.nextEnd;
    return socketAt === null || graceAt === null ? (socketAt ?? graceAt) : Math.min(socketAt, graceAt);
  }
}
