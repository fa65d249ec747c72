/** The tasks of a room's alarm, and the recovery that makes memory, storage and sockets match after a failure. */

import { LIMITS } from "@atrium/contract/limits.ts";
import { DurableAlarm } from "../../platform/objects/durable-alarm.ts";
import type { StatsProjection } from "../engine/content/stats-projection.ts";
import type { DelayedEvents } from "../engine/outbox/delayed-events.ts";
import type { OutboxDrain } from "../engine/outbox/outbox-drain.ts";
import type { Room } from "../engine/room.ts";
import type { Sockets } from "../transport/sockets.ts";
import type { DatabaseReads } from "./database-reads.ts";
import type { EffectExecutor } from "./effect-executor.ts";
import { type RoomContext, roomMetrics } from "./room-context.ts";
import type { RoomService } from "./room-service.ts";

/** The wait after a failure, before memory, storage and sockets are compared. */
const RECOVERY_DELAY_MS = 1_000;

/** Longest interval between alarms of a room with connections. It had none in a longer gap. */
const MAX_COUNTED_MS = 2 * LIMITS.sweepIntervalMs;

interface AlarmPorts {
  readonly context: RoomContext;
  readonly room: Room;
  readonly sockets: Sockets;
  readonly effects: EffectExecutor;
  readonly reads: DatabaseReads;
  readonly service: RoomService;
  readonly outboxDrain: Pick<OutboxDrain, "resume" | "retryIfDue" | "dueAt">;
  readonly inboxDrain: AlarmPorts["outboxDrain"];
  readonly statsProjection: StatsProjection;
}

export class RoomAlarm {
  readonly #ports: AlarmPorts;
  readonly #alarm: DurableAlarm;
  readonly #storageBytes: () => number;
  /** The last counted time of this life; storage has that of the life before. */
  #countedAt: number | null = null;
  /** Users have joined or left since the alarm was planned: events and stats are due. */
  #isOutdated = false;
  #isUnplanned = false;
  /** When to make memory match storage and sockets again, after a failure (epoch ms); null when they match. */
  #recoverAt: number | null = null;

  constructor(state: DurableObjectState, ports: AlarmPorts) {
    this.#ports = ports;
    this.#storageBytes = () => state.storage.sql.databaseSize;
    this.#alarm = new DurableAlarm(state, (error) => {
      this.#isOutdated = true;
      ports.context.report("The alarm of a room could not be set", error);
    });
  }

  /** Memory is empty: sockets and storage hold the room's state, and show whether a crash ended sessions. */
  wake(): void {
    const { context, room, sockets, effects, outboxDrain, inboxDrain, statsProjection } = this.#ports;
    const connections = sockets.restore();
    context.restore(room.identity ?? sockets.identity);
    effects.perform(room.restore(connections));
    outboxDrain.resume();
    inboxDrain.resume();
    const { storeEvents, documentEvents, content } = room;
    const parts = [statsProjection, outboxDrain, inboxDrain, storeEvents, documentEvents];
    const due = [...parts, content.threadRemoval, room.streams].map((part) => part.dueAt());
    if (due.some((at) => at !== null)) this.plan();
  }

  /** Never throws: while storage cannot be read, which is logged once, the room looks again after a second. */
  plan(): void {
    const { context } = this.#ports;
    this.#isOutdated = false;
    try {
      this.#alarm.scheduleBy(this.#dueTimes());
      this.#isUnplanned = false;
    } catch (error) {
      if (!this.#isUnplanned) context.report("The alarm of a room could not be planned", error);
      this.#isUnplanned = true;
      this.#alarm.scheduleBy([context.now() + RECOVERY_DELAY_MS]);
    }
  }

  #dueTimes(): (number | null)[] {
    const { room, outboxDrain, inboxDrain, statsProjection } = this.#ports;
    return [
      room.participants.sweepAt(),
      statsProjection.dueAt(),
      outboxDrain.dueAt(),
      inboxDrain.dueAt(),
      room.storeEvents.dueAt(),
      room.documentEvents.dueAt(),
      room.content.threadRemoval.dueAt(),
      room.streams.dueAt(),
      this.#recoverAt,
    ];
  }

  outdate(): void {
    this.#isOutdated = true;
  }

  planIfOutdated(): void {
    if (this.#isOutdated) this.plan();
  }

  /** The storage was deleted, and the alarm with it. */
  forget(): void {
    this.#alarm.markFired();
  }

  /** The alarm has fired. Catches everything and always plans the next one: the platform gives up after six failures. */
  async run(): Promise<void> {
    const { context, room, effects, outboxDrain, inboxDrain, statsProjection } = this.#ports;
    this.#alarm.markFired();
    const tasks = [
      () => this.#count(),
      () => this.closeVanished(),
      () => this.#recoverIfDue(),
      () => effects.perform(room.participants.sweep()),
      () => effects.perform(room.removeEnded()),
      () => room.streams.sweep(),
      () => this.#report(room.storeEvents),
      () => this.#report(room.documentEvents),
      () => outboxDrain.retryIfDue(),
      () => inboxDrain.retryIfDue(),
      () => statsProjection.copyIfDue(),
    ];
    for (const task of tasks) {
      try {
        await task();
      } catch (error) {
        context.report("A task of a room's alarm failed", error);
      }
    }
    this.plan();
  }

  #report(events: DelayedEvents): Promise<void> {
    const { context, reads, service } = this.#ports;
    return events.report(
      (event) => service.hasListener(context.identity, event),
      () => reads.requireRow(),
    );
  }

  /** Counts the time since the last alarm: the current connections and bytes stand for it. */
  #count(): void {
    const { context, room, sockets } = this.#ports;
    const now = context.now();
    const since = this.#countedAt ?? room.sessions.record?.lastAliveAt ?? now;
    const seconds = Math.min(Math.max(0, now - since), MAX_COUNTED_MS) / 1000;
    this.#countedAt = sockets.count === 0 ? null : now;
    roomMetrics.add("alarms");
    if (sockets.count === 0) return;
    roomMetrics.add("occupied_seconds", seconds);
    roomMetrics.add("connection_seconds", sockets.count * seconds);
    roomMetrics.add("storage_byte_seconds", this.#storageBytes() * seconds);
  }

  recoverSoon(): void {
    this.#recoverAt ??= this.#ports.context.now() + RECOVERY_DELAY_MS;
    this.outdate();
  }

  #recoverIfDue(): void {
    if (this.#recoverAt === null || this.#recoverAt > this.#ports.context.now()) return;
    this.#recoverAt = null;
    try {
      this.#ports.effects.perform(this.#ports.room.reconcile().effects);
    } catch (error) {
      this.recoverSoon();
      throw error;
    }
  }

  /** A socket is gone: for good, or because it broke. */
  remove(id: string, isForGood: boolean): void {
    this.#ports.effects.perform(this.#ports.room.close(id, isForGood));
  }

  /** Sockets that the runtime has lost without an event are broken. */
  closeVanished(): void {
    for (const id of this.#ports.sockets.releaseVanished()) this.remove(id, false);
  }
}
