/** The Durable Object that hosts one room: it owns sockets, alarm and storage, and carries out the room's effects. */
import { DurableObject } from "cloudflare:workers";
import type { Env } from "../config.ts";
import { fanOut } from "../delivery/fan-out.ts";
import type { RoomCommand } from "../delivery/room-command.ts";
import { subscriberGateway } from "../delivery/subscriber-gateway.ts";
import { openTenant } from "../platform/d1.ts";
import { logError } from "../platform/log.ts";
import type { RoomStats } from "../rooms/schema.ts";
import { updateRoomStats } from "../rooms/stats.ts";
import { readRoom, readUser, runQuery } from "./d1-reads.ts";
import { authorizeJoin } from "./join/authorize-join.ts";
import { OutboxDrain } from "./outbox/outbox-drain.ts";
import { StatsProjection, type VersionedStats } from "./participants/stats-projection.ts";
import { PING, PONG, serialize } from "./protocol/protocol.ts";
import type { RoomRequest } from "./requests.ts";
import { Room } from "./room.ts";
import type { Reconciliation, RoomSnapshot, UserSnapshot } from "./snapshots.ts";
import type { RoomIdentity, RoomRecord } from "./storage/storage.ts";
import type { PendingEvent } from "./storage/storage-outbox.ts";
import { SqliteStorage } from "./storage/storage-sqlite.ts";
import type { DatabaseQuery, Effect } from "./transport/effects.ts";
import { RestPolicy, TickPolicy } from "./transport/flush-policy.ts";
import { FlushTimer } from "./transport/flush-timer.ts";
import { Sockets } from "./transport/sockets.ts";

/** Headers by which the gateway tells the object of an upgrade which room it is. */
export const ACCOUNT_HEADER = "Atrium-Account";
export const ROOM_HEADER = "Atrium-Room";

export class RoomObject extends DurableObject<Env> {
  /** Epoch milliseconds; tests put their own clock here. */
  clock: () => number = () => Date.now();

  readonly #room: Room;
  readonly #sockets: Sockets;
  readonly #statsProjection: StatsProjection;
  readonly #outboxDrain: OutboxDrain;
  readonly #pace = new TickPolicy();
  readonly #rest = new RestPolicy();
  readonly #ticker = new FlushTimer(
    () => this.clock(),
    this.#pace,
    () => this.#flushPresence(),
  );
  readonly #sender = new FlushTimer(
    () => this.clock(),
    this.#rest,
    () => this.#send(),
  );
  /** Presence has changed since it was last told. */
  #presenceHasChanged = false;
  /** Setting an alarm is a write to storage: one that is set is remembered, and only an earlier one replaces it. */
  #alarmAt: number | null = null;
  /** Told by whoever calls, and kept in storage and with the sockets: an alarm has nobody to ask. */
  #identity: RoomIdentity | null = null;
  /** Settles when the users' changes that were told so far have reached the members. */
  #refreshes: Promise<void> = Promise.resolve();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    this.#sockets = new Sockets(ctx);
    const storage = new SqliteStorage(ctx.storage);
    this.#room = new Room({
      storage,
      now: () => this.clock(),
      newId: () => crypto.randomUUID(),
      lastPingAt: (id) => this.#sockets.lastPingAt(id),
      report: (what, error) => this.#logError(what, error),
    });
    this.#statsProjection = new StatsProjection({
      now: () => this.clock(),
      current: () => this.#currentFigures(),
      isOwed: () => this.#isCopyOwed(),
      write: (current) => this.#writeCopy(current),
      written: (version) => this.#room.statsProjected(version),
    });
    this.#outboxDrain = new OutboxDrain({
      now: () => this.clock(),
      storage,
      fanOut: (events) => this.#handOver(events),
      keepAlive: (work) => ctx.waitUntil(work),
      failed: (error) =>
        this.#logError("Events of a room could not be delivered to its subscribers yet", error),
    });
    void ctx.blockConcurrencyWhile(() => this.#wake());
  }

  /** Memory was empty a moment ago: sockets and storage say what was in it, and whether a crash lost some. */
  async #wake(): Promise<void> {
    this.#alarmAt = await this.ctx.storage.getAlarm();
    const connections = this.#sockets.restore();
    this.#identity = identityOf(this.#room.record) ?? this.#sockets.identity;
    this.#perform(this.#room.restore(connections));
    if (this.#isBusy) this.#planAlarm();
  }

  /** The upgrade, forwarded by the gateway. */
  override fetch(request: Request): Response {
    const identity = this.#identify(request.headers.get(ACCOUNT_HEADER), request.headers.get(ROOM_HEADER));
    const { 0: client, 1: server } = new WebSocketPair();
    const id = crypto.randomUUID();
    this.#sockets.accept(server, id, identity);
    this.#perform(this.#room.open(id));
    this.#planAlarm();
    return new Response(null, { status: 101, webSocket: client });
  }

  override webSocketMessage(socket: WebSocket, frame: string | ArrayBuffer): void {
    const id = this.#sockets.idOf(socket);
    if (id === null) return;
    this.#perform(this.#room.receive(id, frame));
    if (this.#isBusy) this.#planAlarm(); // nothing else that a message does is due any earlier
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void {
    this.#leave(socket);
    this.#sockets.answerClose(socket, code, reason);
  }

  override webSocketError(socket: WebSocket): void {
    this.#leave(socket);
    this.#sockets.answerClose(socket, 1011, "connection failed");
  }

  #leave(socket: WebSocket): void {
    const id = this.#sockets.release(socket);
    if (id === null) return;
    this.#perform(this.#room.close(id));
    this.#planAlarm();
  }

  /** Catches everything and always plans the next alarm: the platform gives an alarm up after six failures. */
  override async alarm(): Promise<void> {
    this.#alarmAt = null;
    try {
      this.#sweep();
      this.#outboxDrain.retry();
      const copyDueAt = this.#statsProjection.dueAt();
      if (copyDueAt !== null && copyDueAt <= this.clock()) await this.#statsProjection.copy();
    } catch (error) {
      this.#logError("The alarm of a room failed", error);
    } finally {
      this.#planAlarm();
    }
  }

  #sweep(): void {
    for (const id of this.#sockets.releaseVanished()) this.#perform(this.#room.close(id));
    this.#perform(this.#room.sweep());
  }

  /** Figures, and what is known of some users. Creates nothing in a room that nobody ever joined. */
  read(accountId: string, userIds: string[]): RoomSnapshot {
    this.#identify(accountId);
    return { figures: this.#room.stats, attendance: this.#room.attendance(userIds) };
  }

  readUser(accountId: string, userId: string): UserSnapshot {
    const { roomId } = this.#identify(accountId);
    const sessions = this.#room.sessions(userId).map((session) => ({ ...session, roomId }));
    return { attendance: this.#room.attendance([userId])[userId] ?? null, sessions };
  }

  /** Sets the counter to the users who really have a live socket, here and in the database. */
  async reconcile(accountId: string): Promise<Reconciliation> {
    this.#identify(accountId);
    for (const id of this.#sockets.releaseVanished()) this.#perform(this.#room.close(id));
    const { previous, effects } = this.#room.reconcile();
    this.#perform(effects);
    this.#planAlarm(); // whatever becomes of the copy below
    const { stats } = this.#room;
    await this.#statsProjection.copy();
    return { previous, reconciled: stats.activeParticipants, figures: stats };
  }

  /** Carries out a change made over REST, for those who are connected. Twice does no harm. */
  async apply(accountId: string, change: RoomCommand): Promise<RoomStats> {
    this.#identify(accountId);
    this.#perform(this.#room.apply(change));
    if (change.type === "room.deleted") await this.#erase();
    else this.#planAlarm();
    // What follows from this change is told before what the caller tells of it.
    await Promise.all([this.#refreshes, this.#outboxDrain.settled()]);
    return this.#room.stats;
  }

  /** Does what the organization asks. Request and answer travel as JSON: they hold whatever users put in them. */
  request(accountId: string, request: string): string {
    const { roomId } = this.#identify(accountId);
    const { response, effects } = this.#room.request(roomId, JSON.parse(request) as RoomRequest);
    this.#perform(effects);
    return serialize(response);
  }

  /** Tells the members of a user's fields; those of one deleted meanwhile concern nobody. */
  async #refreshUser(userId: string, event: "userCreated" | "userUpdated"): Promise<void> {
    const { user, room } = await readUser(this.env, this.#knownIdentity(), userId);
    if (room !== null) this.#room.recordRoom(room);
    if (user !== null) this.#perform(this.#room.updateUser(user, event));
  }

  async #refreshRoom(): Promise<void> {
    const row = await readRoom(this.env, this.#knownIdentity());
    if (row !== null) this.#perform(this.#room.updateRoom(row));
  }

  async #look(id: string, query: DatabaseQuery): Promise<void> {
    const sight = await runQuery(this.env, this.#knownIdentity(), query);
    this.#perform(this.#room.answerQuery(id, query, sight));
  }

  /** Leaves nothing behind, the alarm included, once all events are handed over; until then it rejects. */
  async #erase(): Promise<void> {
    this.#planAlarm();
    await this.#outboxDrain.finish();
    this.#perform(this.#room.clear());
    this.#alarmAt = null;
    await this.ctx.storage.deleteAll();
  }

  /** Notes which room this is, or refuses a caller who takes it for another account's. */
  #identify(accountId: string | null, roomId: string | null = this.ctx.id.name ?? null): RoomIdentity {
    if (accountId === null || roomId === null)
      throw new Error("A room's object is reached through its gateway");
    this.#identity ??= { accountId, roomId };
    if (this.#identity.accountId !== accountId) throw new Error("This room belongs to another account");
    return this.#identity;
  }

  /** Which room this is. Whoever has sockets, a stored record or a caller has been told. */
  #knownIdentity(): RoomIdentity {
    if (this.#identity === null) throw new Error("Nobody has told this object which room it is");
    return this.#identity;
  }

  /** Something is to be done soon, come what may. */
  get #isBusy(): boolean {
    return this.#statsProjection.dueAt() !== null || this.#outboxDrain.dueAt() !== null;
  }

  /** Asks who listens to what happened, and hands it over. */
  async #handOver(events: readonly PendingEvent[]): Promise<ReadonlyMap<string, string>> {
    const { accountId, roomId } = this.#knownIdentity();
    return fanOut(openTenant(this.env.DB, accountId), subscriberGateway(this.env), roomId, events);
  }

  #currentFigures(): VersionedStats {
    return { figures: this.#room.stats, version: this.#room.record?.version ?? 0 };
  }

  #isCopyOwed(): boolean {
    const { record } = this.#room;
    return record !== null && record.copiedVersion < record.version;
  }

  async #writeCopy({ figures, version }: VersionedStats): Promise<void> {
    const { accountId, roomId } = this.#knownIdentity();
    await updateRoomStats(openTenant(this.env.DB, accountId), roomId, figures, version);
  }

  /** Carries out effects in their order, and sees to what may wait for the next tick. */
  #perform(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.type === "send") this.#pace.count(effect.to.length, this.clock());
      this.#do(effect);
    }
    if (this.#presenceHasChanged) this.#ticker.request();
    if (this.#sockets.hasWaiting) this.#sender.request();
  }

  #do(effect: Effect): void {
    switch (effect.type) {
      case "send":
        this.#sockets.send(effect.to, effect.message);
        break;
      case "presenceChanged":
        this.#pace.count(effect.receivers, this.clock());
        this.#presenceHasChanged = true;
        break;
      case "attach":
        this.#sockets.attach(effect.connection);
        break;
      case "acknowledgeRead":
        this.#sockets.noteRead(effect.id, effect.mark);
        break;
      case "close":
        this.#sockets.close(effect.id, effect.code, effect.reason);
        break;
      case "authorizeJoin":
        this.ctx.waitUntil(this.#admit(effect.id, effect.request.token));
        break;
      case "drainOutbox":
        this.#outboxDrain.drain();
        break;
      case "refreshUser":
        this.#afterOthers(() => this.#refreshUser(effect.userId, effect.event));
        break;
      case "refreshRoom":
        this.#afterOthers(() => this.#refreshRoom());
        break;
      case "queryDatabase":
        this.#afterOthers(() => this.#look(effect.id, effect.query));
        break;
    }
  }

  /** One reading of the database after the other, so that the latest one is the last one told. */
  #afterOthers(read: () => Promise<void>): void {
    this.#refreshes = this.#refreshes.catch(() => undefined).then(read);
    this.ctx.waitUntil(this.#refreshes.catch(() => undefined));
  }

  #flushPresence(): void {
    this.#presenceHasChanged = false;
    this.#pace.flushed(this.clock());
    for (const effect of this.#room.flush()) this.#do(effect);
    if (this.#sockets.hasWaiting) this.#sender.request();
  }

  #send(): void {
    this.#rest.flushed(this.clock(), this.#sockets.flush());
    for (const id of this.#sockets.takeSlow()) this.#perform(this.#room.disconnectSlowReader(id));
  }

  async #admit(id: string, token: string): Promise<void> {
    const verdict = await authorizeJoin(
      this.env,
      this.#knownIdentity(),
      token,
      this.clock(),
      this.#room.record === null,
    );
    this.#perform(this.#room.join(id, verdict));
    this.#planAlarm();
  }

  #logError(message: string, error: unknown): void {
    const { accountId: account, roomId: room } = this.#identity ?? {};
    logError(message, { account, room, object: String(this.ctx.id) }, error);
  }

  #planAlarm(): void {
    const times = [this.#statsProjection.dueAt(), this.#outboxDrain.dueAt()].filter((at) => at !== null);
    const next = this.#room.planAlarm(times.length === 0 ? null : Math.min(...times));
    if (next === null || (this.#alarmAt !== null && this.#alarmAt <= next)) return;
    this.#alarmAt = next;
    void this.ctx.storage.setAlarm(next);
  }
}

const identityOf = (record: RoomRecord | null): RoomIdentity | null =>
  record && { accountId: record.accountId, roomId: record.roomId };
