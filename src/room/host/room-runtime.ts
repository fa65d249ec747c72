/** The runtime of one room: creates the parts of its object, and connects them. */

import { documentTrailKeptMs, storeQuotaBytes } from "../../platform/config.ts";
import { readSetting, type Settings } from "../../platform/settings.ts";
import { type MetricBindings, writeMetrics } from "../../platform/telemetry/telemetry.ts";
import type { RoomStats } from "../../wire/snapshots.ts";
import { StatsProjection } from "../engine/content/stats-projection.ts";
import { OutboxDrain } from "../engine/outbox/outbox-drain.ts";
import { Room } from "../engine/room.ts";
import { SqliteStorage } from "../storage/storage.ts";
import type { Effect } from "../transport/connection.ts";
import { Sockets } from "../transport/sockets.ts";
import { DatabaseReads } from "./database-reads.ts";
import { EffectExecutor } from "./effect-executor.ts";
import { JoinAuthorizer } from "./join-authorizer.ts";
import { RoomAlarm } from "./room-alarm.ts";
import { CurrentTrace, RoomContext, roomMetrics } from "./room-context.ts";
import type { RoomPorts } from "./room-ports.ts";

/** The settings and bindings that a room uses itself. */
export type RoomEnv = Settings & MetricBindings;

export class RoomRuntime {
  readonly context: RoomContext;
  readonly traces = new CurrentTrace();
  readonly sockets: Sockets;
  readonly room: Room;
  readonly storage: SqliteStorage;
  readonly reads: DatabaseReads;
  readonly joins: JoinAuthorizer;
  readonly effects: EffectExecutor;
  readonly outboxDrain: OutboxDrain;
  readonly statsProjection: StatsProjection;
  readonly alarm: RoomAlarm;
  readonly service: RoomPorts;

  /** `now` returns epoch milliseconds. */
  constructor(ctx: DurableObjectState, env: RoomEnv, service: RoomPorts, now: () => number) {
    const context = new RoomContext(ctx, now);
    const graceMs = readSetting(env, "RECONNECT_GRACE_MS");
    const recorded = () => {
      this.alarm.outdate();
      this.outboxDrain.drain();
    };
    const storage = new SqliteStorage(ctx.storage, recorded, () => this.traces.stored);
    const perform = (effects: readonly Effect[]) => this.effects.perform(effects);
    const fail = (id: string, what: string, error: unknown) => this.effects.fail([id], what, error);
    this.context = context;
    this.service = service;
    this.storage = storage;
    this.sockets = new Sockets(ctx, {
      now,
      onSlowReader: (id) => perform(this.room.disconnectSlowReader(id)),
      onSent: (size) => {
        roomMetrics.add("frames_sent");
        roomMetrics.add("bytes_sent", size);
      },
      onReleased: () => roomMetrics.add("connections_closed"),
      onFailedSend: (id, error) => fail(id, "A frame could not be sent", error),
      onFlushed: () => this.effects.flushed(),
    });
    this.room = new Room({
      storage,
      now,
      newId: () => crypto.randomUUID(),
      graceMs,
      roomId: () => context.identity.roomId,
      storeQuotaBytes: storeQuotaBytes(env),
      trailKeptMs: documentTrailKeptMs(env),
      lastPingAt: (id) => this.sockets.lastPingAt(id),
      answerableIn: (id) => this.sockets.answerableIn(id),
      canTakeMore: (id) => this.sockets.canTakeMore(id),
      closingOf: (userId) => this.sockets.closingOf(userId),
      report: (what, error) => context.report(what, error),
      handling: (id, frameId) => this.traces.continue(this.sockets.traceOf(id), frameId),
    });
    const { room } = this;
    const newsParts = [room.storeQuota, room.storeEvents, room.documentEvents];
    this.reads = new DatabaseReads({ context, service, room, perform });
    this.joins = new JoinAuthorizer({
      context,
      room,
      service,
      graceMs,
      perform,
      fail,
      during: (id, work) => this.traces.during(this.sockets.traceOf(id), work),
    });
    this.effects = new EffectExecutor({
      context,
      room,
      sockets: this.sockets,
      joins: this.joins,
      traces: this.traces,
      reads: this.reads,
      planAlarm: () => this.alarm.outdate(),
      recoverSoon: () => this.alarm.recoverSoon(),
      performed: () => {
        for (const part of newsParts) if (part.takeNews()) this.alarm.outdate();
        this.alarm.planIfOutdated();
        writeMetrics(env);
      },
    });
    this.outboxDrain = new OutboxDrain({
      now,
      storage,
      fanOut: (events, calls) => service.fanOut(context.identity, events, calls),
      keepAlive: (work) => context.keepAlive(work),
      failed: (error) =>
        context.report("Events of a room could not be delivered to its subscribers yet", error),
    });
    this.statsProjection = new StatsProjection({
      now,
      room,
      write: (stats, version) => this.#project(stats, version),
    });
    this.alarm = new RoomAlarm(ctx, this);
  }

  /** Once the log has all that names the user; rejects until then. */
  async eraseFromLog(userId: string): Promise<void> {
    await this.outboxDrain.finish();
    await this.service.eraseFromLog(this.context.identity, userId);
  }

  async #project(stats: RoomStats, version: number): Promise<void> {
    const { storeBytes, storeQuota, updates } = this.room;
    const projected = { ...stats, storeBytes, at: this.context.now() };
    const copied = await this.service.copyStats(this.context.identity, projected, version);
    storeQuota.copied(copied.storeUse, storeBytes, copied.maxCommentBytes);
    // A socket that joined while the organization's tokens were ended may have missed the command.
    this.effects.perform(updates.endTokens(null, { account: copied.accountTokenEpoch }));
  }
}
