/** The Durable Object that hosts one room: it owns sockets, storage and alarm, and carries out the room's effects. */
import { DurableObject } from "cloudflare:workers";
import { type Env, storeQuotaBytes } from "../config.ts";
import { fanOut } from "../delivery/fan-out.ts";
import { subscriberGateway } from "../delivery/subscriber-gateway.ts";
import { openTenant } from "../platform/d1.ts";
import { DurableAlarm } from "../platform/durable-alarm.ts";
import { logError } from "../platform/log.ts";
import { findRoomRow } from "../rooms/queries.ts";
import { updateRoomStats } from "../rooms/stats.ts";
import { D1Reads } from "./d1-reads.ts";
import { EffectExecutor } from "./effect-executor.ts";
import { authorizeJoin } from "./join/authorize-join.ts";
import { JOIN_FAILED, type JoinDecision } from "./join/join-decision.ts";
import { OutboxDrain } from "./outbox/outbox-drain.ts";
import { StatsProjection } from "./participants/stats-projection.ts";
import type { RoomCommand } from "./port/room-command.ts";
import { ACCOUNT_HEADER, ADDRESS_HEADER, ROOM_HEADER, type RoomRpc } from "./port/room-gateway.ts";
import type { Reconciliation, RoomSnapshot, RoomStats, UserSnapshot } from "./port/snapshots.ts";
import { serialize } from "./protocol/frame.ts";
import { CLOSE, PING, PONG } from "./protocol/protocol.ts";
import type { RoomRequest } from "./protocol/room-request.ts";
import { Room } from "./room.ts";
import type { RoomIdentity } from "./storage/storage.ts";
import { SqliteStorage } from "./storage/storage-sqlite.ts";
import type { Effect } from "./transport/effects.ts";
import { Sockets } from "./transport/sockets.ts";

/** After a failure of the room itself, it waits this long before it compares memory, storage and sockets. */
const RECOVERY_DELAY_MS = 1_000;

type AuthorizeRefresh = Extract<Effect, { readonly type: "authorizeRefresh" }>;

export class RoomObject extends DurableObject<Env> implements RoomRpc {
  /** Epoch milliseconds; tests replace it with a clock of their own. */
  clock: () => number = () => Date.now();

  readonly #room: Room;
  readonly #sockets: Sockets;
  readonly #reads: D1Reads;
  readonly #statsProjection: StatsProjection;
  readonly #outboxDrain: OutboxDrain;
  readonly #alarm: DurableAlarm;
  readonly #effects: EffectExecutor;
  /** Users have joined or left since the alarm was planned: events and stats are due. */
  #isAlarmOutdated = false;
  /** When to make memory match storage and sockets again, after a failure (epoch ms); null when they match. */
  #recoverAt: number | null = null;
  /** From the caller, and kept in storage and with the sockets: an alarm does not say which room it is for. */
  #identity: RoomIdentity | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    const now = () => this.clock();
    const keepAlive = (work: Promise<unknown>) => ctx.waitUntil(work);
    const identity = () => this.#knownIdentity();
    const tenant = () => openTenant(env.DB, identity().accountId);
    const storage = new SqliteStorage(ctx.storage);
    this.#alarm = new DurableAlarm(ctx, (error) => {
      this.#isAlarmOutdated = true;
      this.#logError("The alarm of a room could not be set", error);
    });
    this.#sockets = new Sockets(ctx, {
      now,
      onSlowReader: (id) => this.#handle(this.#room.disconnectSlowReader(id)),
      onFailedSend: (id, error) => this.#effects.fail([id], "A frame could not be sent", error),
    });
    this.#room = new Room({
      storage,
      now,
      newId: () => crypto.randomUUID(),
      roomId: () => identity().roomId,
      storeQuotaBytes: storeQuotaBytes(env),
      lastPingAt: (id) => this.#sockets.lastPingAt(id),
      answerableIn: (id) => this.#sockets.answerableIn(id),
      report: (what, error) => this.#logError(what, error),
    });
    this.#reads = new D1Reads({
      env,
      room: this.#room,
      identity,
      perform: (effects) => this.#effects.perform(effects),
      keepAlive,
    });
    this.#statsProjection = new StatsProjection({
      now,
      room: this.#room,
      write: async (stats, version) => {
        // A socket that joined while the organization's tokens were ended may have missed the command.
        const account = await updateRoomStats(tenant(), identity().roomId, stats, version);
        this.#effects.perform(this.#room.updates.endTokens(null, { account }));
      },
    });
    this.#outboxDrain = new OutboxDrain({
      now,
      storage,
      fanOut: (events) => fanOut(tenant(), subscriberGateway(env), identity().roomId, events),
      keepAlive,
      failed: (error) =>
        this.#logError("Events of a room could not be delivered to its subscribers yet", error),
    });
    this.#effects = new EffectExecutor({
      now,
      sockets: this.#sockets,
      reads: this.#reads,
      flushPresence: () => this.#room.flush(),
      authorizeJoin: (id, token) => keepAlive(this.#authorizeJoin(id, token)),
      authorizeRefresh: (refresh) => keepAlive(this.#authorizeRefresh(refresh)),
      countDelivery: (userId, points, isBroadcast) => this.#room.countDelivery(userId, points, isBroadcast),
      resume: () => this.#room.resume(),
      drainOutbox: () => {
        this.#isAlarmOutdated = true;
        this.#outboxDrain.drain();
      },
      report: (what, error) => this.#logError(what, error),
      disconnectFailed: (ids) => this.#room.disconnectFailed(ids),
      recoverSoon: () => this.#recoverSoon(),
    });
    void ctx.blockConcurrencyWhile(async () => this.#wake());
  }

  /** Memory is empty: sockets and storage hold the room's state, and show whether a crash ended sessions. */
  #wake(): void {
    const connections = this.#sockets.restore();
    this.#identity = this.#room.identity ?? this.#sockets.identity;
    this.#effects.perform(this.#room.restore(connections));
    if (this.#statsProjection.dueAt() !== null || this.#outboxDrain.dueAt() !== null) this.#planAlarm();
  }

  /** The upgrade, forwarded by the gateway. */
  override fetch(request: Request): Response {
    const identity = this.#identify(request.headers.get(ACCOUNT_HEADER), request.headers.get(ROOM_HEADER));
    const { 0: client, 1: server } = new WebSocketPair();
    const id = crypto.randomUUID();
    this.#sockets.accept(server, id, identity);
    this.#effects.perform(this.#room.open(id, request.headers.get(ADDRESS_HEADER) ?? ""));
    this.#planAlarm();
    return new Response(null, { status: 101, webSocket: client });
  }

  override webSocketMessage(socket: WebSocket, frame: string | ArrayBuffer): void {
    const id = this.#sockets.idOf(socket);
    if (id === null) return;
    try {
      this.#handle(this.#room.receive(id, frame));
    } catch (error) {
      this.#effects.fail([id], "A room could not handle a frame", error);
      this.#planAlarm();
    }
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void {
    this.#release(socket);
    this.#sockets.answerClose(socket, code, reason);
  }

  override webSocketError(socket: WebSocket): void {
    this.#release(socket);
    this.#sockets.answerClose(socket, CLOSE.failed, "connection failed");
  }

  #release(socket: WebSocket): void {
    const id = this.#sockets.release(socket);
    if (id === null) return;
    this.#remove(id);
    this.#planAlarm();
  }

  /** A socket is gone. If the room cannot record that now, it does when it recovers. */
  #remove(id: string): void {
    try {
      this.#effects.perform(this.#room.close(id));
    } catch (error) {
      this.#logError("A closed socket could not be removed yet", error);
      this.#recoverSoon();
    }
  }

  #recoverSoon(): void {
    this.#recoverAt ??= this.clock() + RECOVERY_DELAY_MS;
    this.#isAlarmOutdated = true;
  }

  #recoverIfDue(): void {
    if (this.#recoverAt === null || this.#recoverAt > this.clock()) return;
    this.#effects.perform(this.#room.reconcile().effects);
    this.#recoverAt = null;
  }

  /** Catches everything and always plans the next alarm: the platform gives up an alarm that fails six times. */
  override async alarm(): Promise<void> {
    this.#alarm.markFired();
    const tasks = [
      () => this.#closeVanished(),
      () => this.#recoverIfDue(),
      () => this.#effects.perform(this.#room.sweep()),
      () => this.#outboxDrain.retryIfDue(),
      () => this.#statsProjection.copyIfDue(),
    ];
    for (const task of tasks) {
      try {
        await task();
      } catch (error) {
        this.#logError("A task of a room's alarm failed", error);
      }
    }
    this.#planAlarm();
  }

  /** Sockets that the runtime has lost without an event count as closed. */
  #closeVanished(): void {
    for (const id of this.#sockets.releaseVanished()) this.#remove(id);
  }

  /** Closes the sockets that the room has forgotten in a change that failed before it could close them. */
  #closeForgotten(): void {
    for (const id of this.#sockets.ids())
      if (!this.#room.isOpen(id)) this.#sockets.close(id, CLOSE.failed, "the server failed");
  }

  /** The stats, and the attendance of some users. Creates nothing in a room that no one has ever joined. */
  read(accountId: string, userIds: string[]): RoomSnapshot {
    this.#identify(accountId);
    return { stats: this.#room.stats, attendance: this.#room.attendance(userIds) };
  }

  readUser(accountId: string, userId: string): UserSnapshot {
    const { roomId } = this.#identify(accountId);
    const sessions = this.#room.sessions(userId).map((session) => ({ ...session, roomId }));
    return { attendance: this.#room.attendance([userId])[userId] ?? null, sessions };
  }

  /** Sets the counter to the users who have a live socket, here and in the database. */
  async reconcile(accountId: string): Promise<Reconciliation> {
    this.#identify(accountId);
    this.#closeVanished();
    const { previous, effects } = this.#room.reconcile();
    this.#effects.perform(effects);
    this.#planAlarm(); // before the copy below, which may fail
    const { stats } = this.#room;
    await this.#statsProjection.copy();
    return { previous, reconciled: stats.activeParticipants, stats };
  }

  /** Applies a change that was made over REST to the connected users. Idempotent. Returns the stats after it. */
  async apply(accountId: string, command: RoomCommand): Promise<RoomStats> {
    this.#identify(accountId);
    try {
      this.#effects.perform(this.#room.updates.apply(command));
    } catch (error) {
      this.#closeForgotten();
      this.#recoverSoon();
      this.#planAlarm();
      throw error;
    }
    if (command.type === "room.deleted") await this.#erase();
    else this.#planAlarm();
    await this.#reads.refreshed();
    if (this.#isAlarmOutdated) this.#planAlarm();
    // The room's events that follow from this change precede the caller's own events about it.
    await this.#outboxDrain.settled();
    return this.#room.stats;
  }

  /** Handles a request of the organization. Request and response are JSON, as they hold any value that users send. */
  async request(accountId: string, request: string): Promise<string> {
    this.#identify(accountId);
    await this.#requireExisting();
    const { response, effects } = this.#room.request(JSON.parse(request) as RoomRequest);
    this.#effects.perform(effects);
    return serialize(response);
  }

  /** Handles batches of a user or, with null, of the organization: one transaction each. Takes and returns JSON. */
  async writeStores(accountId: string, userId: string | null, batches: string): Promise<string> {
    this.#identify(accountId);
    await this.#requireExisting();
    const responses = (JSON.parse(batches) as RoomRequest[]).map((batch) => {
      const { response, effects } = this.#room.request(batch, userId);
      this.#effects.perform(effects);
      return serialize(response);
    });
    return `[${responses.join()}]`;
  }

  /**
   * Before a room's first write: the caller may have checked the database before the room was deleted, and its write
   * would bring the erased object back. Nothing else has to remember the deletion.
   */
  async #requireExisting(): Promise<void> {
    const { updates } = this.#room;
    if (updates.isUsed || updates.isDeleted) return;
    const { accountId, roomId } = this.#knownIdentity();
    const row = await findRoomRow(openTenant(this.env.DB, accountId), { id: roomId });
    if (row === null) updates.recordDeletion();
  }

  /** Deletes everything including the alarm, once all events are passed on; rejects until then. */
  async #erase(): Promise<void> {
    this.#planAlarm();
    await this.#outboxDrain.finish();
    this.#effects.perform(this.#room.updates.clear());
    this.#alarm.markFired();
    await this.ctx.storage.deleteAll();
  }

  /** Records which room this is. Throws for a caller of another account. */
  #identify(accountId: string | null, roomId: string | null = this.ctx.id.name ?? null): RoomIdentity {
    if (accountId === null || roomId === null)
      throw new Error("A room's object must be called through its gateway");
    this.#identity ??= { accountId, roomId };
    if (this.#identity.accountId !== accountId) throw new Error("This room belongs to another account");
    return this.#identity;
  }

  /** Which room this is: known as soon as there is a caller, a socket or a stored record. */
  #knownIdentity(): RoomIdentity {
    if (this.#identity === null) throw new Error("This object does not know which room it is yet");
    return this.#identity;
  }

  /** Carries out effects, and plans the alarm if they need one. */
  #handle(effects: readonly Effect[]): void {
    this.#effects.perform(effects);
    if (this.#isAlarmOutdated) this.#planAlarm();
  }

  async #authorizeJoin(id: string, token: string): Promise<void> {
    this.#completeJoin(id, await this.#authorize(id, token, this.#room.record === null));
    this.#planAlarm();
  }

  async #authorizeRefresh({ id, token, requestId }: AuthorizeRefresh): Promise<void> {
    this.#handle(this.#room.refreshToken(id, await this.#authorize(id, token, false), requestId));
  }

  #authorize(id: string, token: string, isFirst: boolean): Promise<JoinDecision> {
    return authorizeJoin(this.env, {
      identity: this.#knownIdentity(),
      token,
      now: this.clock(),
      isFirst,
      schedule: (userId, read) => this.#reads.join(id, userId, read),
    });
  }

  #completeJoin(id: string, decision: JoinDecision): void {
    try {
      this.#effects.perform(this.#room.join(id, decision));
    } catch (error) {
      this.#logError("A join could not be completed", error);
      if (decision !== JOIN_FAILED) this.#completeJoin(id, JOIN_FAILED);
      this.#effects.fail([id], "A joining socket was closed", error);
    }
  }

  #logError(message: string, error: unknown): void {
    const { accountId: account, roomId: room } = this.#identity ?? {};
    logError(message, { account, room, object: String(this.ctx.id) }, error);
  }

  #planAlarm(): void {
    this.#isAlarmOutdated = false;
    this.#alarm.scheduleBy([
      this.#room.sweepAt(),
      this.#statsProjection.dueAt(),
      this.#outboxDrain.dueAt(),
      this.#recoverAt,
    ]);
  }
}
