/** The runtime of one room: creates the parts of its object, and connects them. */

import type { RoomStats } from "@atrium/contract/resources/snapshots.ts";
import { documentTrailKeptMs, roomLimits } from "../../platform/config.ts";
import { readSetting, type Settings } from "../../platform/settings.ts";
import { type MetricBindings, writeMetrics } from "../../platform/telemetry/telemetry.ts";
import { StatsProjection } from "../engine/content/stats-projection.ts";
import { OutboxDrain } from "../engine/outbox/outbox-drain.ts";
import { Room } from "../engine/room.ts";
import type { OutboxEvent } from "../storage/sqlite-outbox.ts";
import type { StoredInboxUpdate } from "../storage/sqlite-threads.ts";
import { SqliteStorage } from "../storage/storage.ts";
import type { Effect } from "../transport/connection.ts";
import { Sockets } from "../transport/sockets.ts";
import { DatabaseReads } from "./database-reads.ts";
import { EffectExecutor } from "./effect-executor.ts";
import { JoinAuthorizer } from "./join-authorizer.ts";
import { RoomAlarm } from "./room-alarm.ts";
import { CurrentTrace, RoomContext, roomMetrics } from "./room-context.ts";
import type { RoomService } from "./room-service.ts";

/** The settings and bindings that a room uses itself. */
export type RoomEnv = Settings & MetricBindings;

export class RoomRuntime {
  readonly #env: RoomEnv;
  readonly service: RoomService;
  readonly context: RoomContext;
  readonly traces = new CurrentTrace();
  readonly storage: SqliteStorage;
  readonly sockets: Sockets;
  readonly room: Room;
  readonly reads: DatabaseReads;
  readonly joins: JoinAuthorizer;
  readonly effects: EffectExecutor;
  readonly outboxDrain: OutboxDrain<OutboxEvent>;
  readonly inboxDrain: OutboxDrain<StoredInboxUpdate>;
  readonly statsProjection: StatsProjection;
  readonly alarm: RoomAlarm;

  /** `now` returns epoch milliseconds. */
  constructor(ctx: DurableObjectState, env: RoomEnv, service: RoomService, now: () => number) {
    const context = new RoomContext(ctx, now);
    const recorded = () => {
      this.alarm.outdate();
      this.outboxDrain.drain();
      this.inboxDrain.drain();
    };
    const storage = new SqliteStorage(ctx.storage, recorded, () => this.traces.stored);
    this.#env = env;
    const limits = roomLimits(env);
    this.service = service;
    this.context = context;
    this.storage = storage;
    const sockets = new Sockets(ctx, {
      now,
      onSlowReader: (id) => this.perform(this.room.disconnectSlowReader(id)),
      onSent: (size) => {
        roomMetrics.add("frames_sent");
        roomMetrics.add("bytes_sent", size);
      },
      onReleased: () => roomMetrics.add("connections_closed"),
      onFailedSend: (id, error) => this.fail(id, "A frame could not be sent", error),
      onEarlySend: () => storage.commit(),
      onFlushed: () => this.effects.flushed(),
    });
    this.sockets = sockets;
    this.room = new Room({
      storage,
      now,
      newId: () => crypto.randomUUID(),
      graceMs: readSetting(env, "RECONNECT_GRACE_MS"),
      roomId: () => context.identity.roomId,
      trailKeptMs: documentTrailKeptMs(env),
      limits: () => limits,
      lastPingAt: (id) => sockets.lastPingAt(id),
      answerableIn: (id) => sockets.answerableIn(id),
      canTakeMore: (id) => sockets.canTakeMore(id),
      closingOf: (userId) => sockets.closingOf(userId),
      planAlarm: () => this.alarm.outdate(),
      report: (what, error) => context.report(what, error),
      handling: (id, frameId) => this.traces.continue(sockets.traceOf(id), frameId),
    });
    this.reads = new DatabaseReads(this);
    this.joins = new JoinAuthorizer(this);
    this.effects = new EffectExecutor(this);
    this.outboxDrain = new OutboxDrain({
      now,
      storage,
      outbox: storage.events,
      newCalls: service.newCalls,
      fanOut: (events, calls, canWait) => service.fanOut(context.identity, events, calls, canWait),
      keepAlive: (work) => context.keepAlive(work),
      failed: (error) =>
        context.report("Events of a room could not be delivered to its subscribers yet", error),
    });
    this.inboxDrain = new OutboxDrain({
      now,
      storage,
      outbox: storage.inboxUpdates,
      newCalls: service.newCalls,
      fanOut: (updates, calls) => service.notify(context.identity, storage.threads, updates, calls),
      keepAlive: (work) => context.keepAlive(work),
      failed: (error) => context.report("Updates of a room could not be passed to inboxes yet", error),
    });
    this.statsProjection = new StatsProjection({
      now,
      room: this.room,
      write: (stats, version) => this.#project(stats, version),
    });
    this.alarm = new RoomAlarm(ctx, this);
  }

  perform(effects: readonly Effect[]): void {
    this.effects.perform(effects);
  }

  /** Runs `work` so that storage writes once for all of it, before anything leaves. Throws when that fails: memory is wrong then. */
  together(work: () => void): void {
    this.effects.hold(() => this.storage.together(work));
  }

  /** Closes a socket because of an error. */
  fail(id: string, what: string, error: unknown): void {
    this.effects.fail([id], what, error);
  }

  /** The effects of a turn are carried out. */
  performed(): void {
    this.alarm.planIfOutdated();
    writeMetrics(this.#env);
  }

  /** Erases a user from the event log, once the log has all events that name the user; rejects until then. */
  async eraseFromLog(userId: string): Promise<void> {
    await this.outboxDrain.finish();
    await this.service.eraseFromLog(this.context.identity, userId);
  }

  async #project(stats: RoomStats, version: number): Promise<void> {
    const { storeQuota, commands } = this.room;
    const storeBytes = storeQuota.roomBytes;
    const projected = { ...stats, storeBytes, at: this.context.now() };
    const copied = await this.service.copyStats(this.context.identity, projected, version);
    storeQuota.copied(copied.storeUse, storeBytes);
    // A socket that joined while the organization's tokens were ended may have missed the command.
    this.perform(commands.endTokens(null, { account: copied.accountTokenEpoch }));
  }
}
