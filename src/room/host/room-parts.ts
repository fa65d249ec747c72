/** What a room's object is made of: creates its parts, and connects them. */

import { fanOut, subscriberGateway } from "../../delivery/subscribers.ts";
import { boardCommentBytes, storeUseOf } from "../../demo/boards.ts";
import type { Env } from "../../env.ts";
import { usedOf } from "../../features/quotas/queries.ts";
import { updateRoomStats } from "../../features/rooms/stats.ts";
import {
  documentTrailKeptMs,
  quotaDefaults,
  reconnectGraceMs,
  storeQuotaBytes,
} from "../../platform/config/limits.ts";
import { writeMetrics } from "../../platform/telemetry/telemetry.ts";
import type { EventName } from "../../wire/event-name.ts";
import type { RoomStats } from "../../wire/snapshots.ts";
import { OutboxDrain } from "../engine/outbox/outbox-drain.ts";
import { StatsProjection } from "../engine/participants/stats-projection.ts";
import { Room } from "../engine/room.ts";
import { SqliteStorage } from "../storage/storage-sqlite.ts";
import type { Effect } from "../transport/effects.ts";
import { Sockets } from "../transport/sockets.ts";
import { CurrentTrace } from "./current-trace.ts";
import { D1Reads } from "./d1-reads.ts";
import { EffectExecutor } from "./effect-executor.ts";
import { JoinAuthorizer } from "./join-authorizer.ts";
import { RoomAlarm } from "./room-alarm.ts";
import { RoomContext } from "./room-context.ts";
import { figures } from "./room-figures.ts";

export class RoomParts {
  readonly context: RoomContext;
  readonly traces = new CurrentTrace();
  readonly sockets: Sockets;
  readonly room: Room;
  readonly storage: SqliteStorage;
  readonly reads: D1Reads;
  readonly joins: JoinAuthorizer;
  readonly effects: EffectExecutor;
  readonly outboxDrain: OutboxDrain;
  readonly statsProjection: StatsProjection;
  readonly alarm: RoomAlarm;

  /** `now` returns epoch milliseconds. */
  constructor(ctx: DurableObjectState, env: Env, now: () => number) {
    const context = new RoomContext(ctx, env, now);
    const recorded = () => {
      this.alarm.outdate();
      this.outboxDrain.drain();
    };
    const storage = new SqliteStorage(ctx.storage, recorded, () => this.traces.stored);
    const perform = (effects: readonly Effect[]) => this.effects.perform(effects);
    const fail = (id: string, what: string, error: unknown) => this.effects.fail([id], what, error);
    this.context = context;
    this.storage = storage;
    this.sockets = new Sockets(ctx, {
      now,
      onSlowReader: (id) => perform(this.room.disconnectSlowReader(id)),
      onSent: (size) => {
        figures.add("frames_sent");
        figures.add("bytes_sent", size);
      },
      onReleased: () => figures.add("connections_closed"),
      onFailedSend: (id, error) => fail(id, "A frame could not be sent", error),
      onFlushed: () => this.effects.flushed(),
    });
    this.room = new Room({
      storage,
      now,
      newId: () => crypto.randomUUID(),
      graceMs: reconnectGraceMs(env),
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
    this.reads = new D1Reads({ context, room, perform });
    this.joins = new JoinAuthorizer({
      ...{ context, room, perform, fail },
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
      fanOut: (events, calls) =>
        fanOut(context.tenant, subscriberGateway(env), context.identity.roomId, events, calls),
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

  /** Whether a subscriber listens to this event of the room. */
  hasListener(event: EventName): Promise<boolean> {
    const { env, identity } = this.context;
    return subscriberGateway(env).hasListener(identity.accountId, identity.roomId, event);
  }

  /** Once the log has all that names the user; rejects until then. */
  async eraseFromLog(userId: string): Promise<void> {
    await this.outboxDrain.finish();
    const { env, identity } = this.context;
    await subscriberGateway(env).eraseFromLog(identity.accountId, identity.roomId, userId);
  }

  async #project(stats: RoomStats, version: number): Promise<void> {
    const { storeBytes, storeQuota, updates } = this.room;
    const { env, identity, tenant } = this.context;
    const projected = { ...stats, storeBytes, at: this.context.now() };
    const copied = await updateRoomStats(tenant, identity.roomId, projected, version);
    const use = usedOf(copied.quotas, "store_bytes", quotaDefaults(env));
    const room = { accountId: identity.accountId, customId: copied.customId, storeBytes };
    storeQuota.copied(storeUseOf(env, room, use), storeBytes, boardCommentBytes(env, room));
    // A socket that joined while the organization's tokens were ended may have missed the command.
    this.effects.perform(updates.endTokens(null, { account: copied.accountTokenEpoch }));
  }
}
