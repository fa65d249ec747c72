/** The Durable Object that hosts one room: it owns sockets, storage and alarm, and carries out the room's effects. */
import { DurableObject } from "cloudflare:workers";
import { type Env, quotaDefaults, reconnectGraceMs, storeQuotaBytes } from "../config.ts";
import { fanOut, subscriberGateway } from "../delivery/subscribers.ts";
import { AppError } from "../platform/errors.ts";
import { usedOf } from "../quotas/queries.ts";
import { updateRoomStats } from "../rooms/stats.ts";
import { D1Reads } from "./d1-reads.ts";
import { respondWithPart } from "./download-response.ts";
import { EffectExecutor } from "./effect-executor.ts";
import { JoinAuthorizer } from "./join-authorizer.ts";
import { OutboxDrain } from "./outbox/outbox-drain.ts";
import { StatsProjection } from "./participants/stats-projection.ts";
import type { RoomCommand } from "./port/room-command.ts";
import type { DocumentInfo, DocumentPart, DocumentRefusal } from "./port/room-documents.ts";
import {
  ACCOUNT_HEADER,
  ADDRESS_HEADER,
  DOCUMENT_HEADER,
  DOWNLOAD_HEADER,
  type DocumentAddress,
  ROOM_HEADER,
  type RoomRpc,
} from "./port/room-gateway.ts";
import type { Reconciliation, RoomSnapshot, RoomStats, UserSnapshot } from "./port/snapshots.ts";
import { serialize } from "./protocol/frame.ts";
import { CLOSE, isBroken, PING, PONG } from "./protocol/protocol.ts";
import type { RoomRequest } from "./protocol/room-request.ts";
import { isReported } from "./requests.ts";
import { Room } from "./room.ts";
import { RoomAlarm } from "./room-alarm.ts";
import { RoomContext } from "./room-context.ts";
import { PartialFailure } from "./room-updates.ts";
import { SqliteStorage } from "./storage/storage-sqlite.ts";
import type { Effect } from "./transport/effects.ts";
import { Sockets } from "./transport/sockets.ts";

/** For the gateway, which remembers it. */
const tooManyConnections = (waitMs: number): Response =>
  new Response(null, { status: 429, headers: { "Retry-After": `${Math.ceil(waitMs / 1000)}` } });

/** As the gateway wrote it. */
const parseEntry = (header: string | null): DocumentAddress | null =>
  header === null ? null : (JSON.parse(decodeURIComponent(header)) as DocumentAddress);

export class RoomObject extends DurableObject<Env> implements RoomRpc {
  /** Epoch milliseconds; tests replace it with a clock of their own. */
  clock: () => number = () => Date.now();

  readonly #context: RoomContext;
  readonly #room: Room;
  readonly #sockets: Sockets;
  readonly #reads: D1Reads;
  readonly #statsProjection: StatsProjection;
  readonly #outboxDrain: OutboxDrain;
  readonly #effects: EffectExecutor;
  readonly #alarm: RoomAlarm;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    const now = () => this.clock();
    const context = new RoomContext(ctx, env, now);
    const storage = new SqliteStorage(ctx.storage, () => {
      this.#alarm.outdate();
      this.#outboxDrain.drain();
    });
    this.#context = context;
    this.#sockets = new Sockets(ctx, {
      now,
      onSlowReader: (id) => this.#effects.perform(this.#room.disconnectSlowReader(id)),
      onFailedSend: (id, error) => this.#effects.fail([id], "A frame could not be sent", error),
    });
    this.#room = new Room({
      storage,
      now,
      newId: () => crypto.randomUUID(),
      graceMs: reconnectGraceMs(env),
      roomId: () => context.identity.roomId,
      storeQuotaBytes: storeQuotaBytes(env),
      lastPingAt: (id) => this.#sockets.lastPingAt(id),
      answerableIn: (id) => this.#sockets.answerableIn(id),
      report: (what, error) => context.report(what, error),
    });
    const perform = (effects: readonly Effect[]) => this.#effects.perform(effects);
    this.#reads = new D1Reads({ context, room: this.#room, perform });
    this.#statsProjection = new StatsProjection({
      now,
      room: this.#room,
      write: async (stats, version) => {
        // A socket that joined while the organization's tokens were ended may have missed the command.
        const { storeBytes, storeQuota, updates } = this.#room;
        const projected = { ...stats, storeBytes };
        const { accountTokenEpoch: account, quotas } = await updateRoomStats(
          context.tenant,
          context.identity.roomId,
          projected,
          version,
        );
        storeQuota.copied(usedOf(quotas, "store_bytes", quotaDefaults(env)), storeBytes);
        this.#effects.perform(updates.endTokens(null, { account }));
      },
    });
    this.#outboxDrain = new OutboxDrain({
      now,
      storage,
      fanOut: (events) => fanOut(context.tenant, subscriberGateway(env), context.identity.roomId, events),
      keepAlive: (work) => context.keepAlive(work),
      failed: (error) =>
        context.report("Events of a room could not be delivered to its subscribers yet", error),
    });
    this.#effects = new EffectExecutor({
      context,
      room: this.#room,
      sockets: this.#sockets,
      joins: new JoinAuthorizer({
        context,
        room: this.#room,
        perform,
        fail: (id, what, error) => this.#effects.fail([id], what, error),
      }),
      reads: this.#reads,
      planAlarm: () => this.#alarm.outdate(),
      recoverSoon: () => this.#alarm.recoverSoon(),
      performed: () => {
        const hasNews = [this.#room.storeQuota.takeNews(), this.#room.storeEvents.takeNews()];
        if (hasNews.includes(true)) this.#alarm.outdate();
        this.#alarm.planIfOutdated();
      },
    });
    this.#alarm = new RoomAlarm(ctx, {
      context,
      room: this.#room,
      sockets: this.#sockets,
      effects: this.#effects,
      reads: this.#reads,
      outboxDrain: this.#outboxDrain,
      statsProjection: this.#statsProjection,
    });
    void ctx.blockConcurrencyWhile(async () => this.#alarm.wake());
  }

  /** An upgrade or, with a header that names it, a download: forwarded by the gateway. */
  override fetch(request: Request): Response {
    const download = request.headers.get(DOWNLOAD_HEADER);
    return download === null ? this.#connect(request) : respondWithPart(this.#room.downloads, download);
  }

  #connect(request: Request): Response {
    const identity = this.#context.identify(
      request.headers.get(ACCOUNT_HEADER),
      request.headers.get(ROOM_HEADER),
    );
    const address = request.headers.get(ADDRESS_HEADER) ?? "";
    const waitMs = this.#room.connectableIn(address);
    if (waitMs > 0) return tooManyConnections(waitMs);
    const { 0: client, 1: server } = new WebSocketPair();
    const id = crypto.randomUUID();
    this.#sockets.accept(server, id, identity);
    const entry = parseEntry(request.headers.get(DOCUMENT_HEADER));
    this.#effects.perform(this.#room.open(id, address, entry));
    this.#alarm.plan();
    const headers = new Headers();
    if (typeof entry?.protocol === "string") headers.set("Sec-WebSocket-Protocol", entry.protocol);
    return new Response(null, { status: 101, webSocket: client, headers });
  }

  override webSocketMessage(socket: WebSocket, frame: string | ArrayBuffer): void {
    const id = this.#sockets.idOf(socket);
    if (id === null) return;
    try {
      this.#effects.perform(this.#room.messages.receive(id, frame));
    } catch (error) {
      this.#effects.fail([id], "A room could not handle a frame", error);
      this.#alarm.plan();
    }
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void {
    this.#release(socket, !isBroken(code));
    this.#sockets.answerClose(socket, code, reason);
  }

  override webSocketError(socket: WebSocket): void {
    this.#release(socket, false);
    this.#sockets.answerClose(socket, CLOSE.failed, "connection failed");
  }

  #release(socket: WebSocket, isForGood: boolean): void {
    const id = this.#sockets.release(socket);
    if (id === null) return;
    this.#alarm.remove(id, isForGood);
    this.#alarm.plan();
  }

  override alarm(): Promise<void> {
    return this.#alarm.run();
  }

  /** The stats, and the attendance of some users. Creates nothing in a room that no one has ever joined. */
  read(accountId: string, userIds: string[]): RoomSnapshot {
    this.#context.identify(accountId);
    return { stats: this.#room.stats, attendance: this.#room.attendance(userIds) };
  }

  readUser(accountId: string, userId: string): UserSnapshot {
    const { roomId } = this.#context.identify(accountId);
    const sessions = this.#room.sessions(userId).map((session) => ({ ...session, roomId }));
    return { attendance: this.#room.attendance([userId])[userId] ?? null, sessions };
  }

  /** Sets the counter to the users who have a live socket, here and in the database. */
  async reconcile(accountId: string): Promise<Reconciliation> {
    this.#context.identify(accountId);
    this.#alarm.closeVanished();
    const { previous, effects } = this.#room.reconcile();
    this.#effects.perform(effects);
    this.#alarm.plan(); // before the copy below, which may fail
    const { stats } = this.#room;
    await this.#statsProjection.copy();
    return { previous, reconciled: stats.activeParticipants, stats };
  }

  /** Applies a change that was made over REST to the connected users. Idempotent. Returns the stats after it. */
  async apply(accountId: string, command: RoomCommand): Promise<RoomStats> {
    this.#context.identify(accountId);
    try {
      this.#effects.perform(this.#room.updates.apply(command));
    } catch (error) {
      if (!(error instanceof PartialFailure)) throw error;
      this.#effects.perform(error.effects);
      throw error.cause;
    }
    if (command.type === "room.deleted") await this.#erase();
    else this.#alarm.plan();
    await this.#reads.refreshed();
    // The room's events that follow from this change precede the caller's own events about it.
    await this.#outboxDrain.settled();
    return this.#room.stats;
  }

  /** Handles a request of the organization. Request and response are JSON, as they hold any value that users send. */
  async request(accountId: string, request: string): Promise<string> {
    this.#context.identify(accountId);
    const parsed = JSON.parse(request) as RoomRequest;
    await (isReported(parsed) ? this.#reads.requireRow() : this.#reads.requireExisting());
    const { response, effects } = this.#room.request(parsed);
    this.#effects.perform(effects);
    return serialize(response);
  }

  /** Handles batches of a user or, with null, of the organization: one transaction each. Takes and returns JSON. */
  async writeStores(accountId: string, userId: string | null, batches: string): Promise<string> {
    this.#context.identify(accountId);
    await this.#reads.requireExisting();
    const responses = (JSON.parse(batches) as RoomRequest[]).map((batch) => {
      const { response, effects } = this.#room.request(batch, userId);
      this.#effects.perform(effects);
      return serialize(response);
    });
    return `[${responses.join()}]`;
  }

  listDocuments(accountId: string): DocumentInfo[] {
    this.#context.identify(accountId);
    return this.#room.documentRequests.list();
  }

  /** A part of a document, counted from 0; null when there is no such document. */
  readDocument(accountId: string, name: string, part: number): DocumentPart | null {
    this.#context.identify(accountId);
    return this.#room.documentRequests.read(name, part);
  }

  /** Applies an update of a user or, with null, of the organization. Returns whether it had news, or why it is refused. */
  async writeDocument(
    accountId: string,
    name: string,
    update: Uint8Array,
    { userId, onlyIfEmpty }: { userId: string | null; onlyIfEmpty: boolean },
  ): Promise<boolean | DocumentRefusal> {
    this.#context.identify(accountId);
    await this.#reads.requireExisting();
    if (this.#room.updates.isDeleted) return { code: "NOT_FOUND", message: "Room not found" };
    try {
      const { isApplied, effects } = this.#room.documentRequests.write(name, update, userId, onlyIfEmpty);
      this.#effects.perform(effects);
      return isApplied;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { code: error.code, message: error.message };
    }
  }

  /** False when there is no such document. */
  deleteDocument(accountId: string, name: string): boolean {
    this.#context.identify(accountId);
    const effects = this.#room.documentRequests.delete(name);
    this.#effects.perform(effects ?? []);
    return effects !== null;
  }

  /** Deletes everything including the alarm, once all events are passed on; rejects until then. */
  async #erase(): Promise<void> {
    this.#alarm.plan();
    await this.#outboxDrain.finish();
    this.#effects.perform(this.#room.clear());
    this.#alarm.forget();
    await this.ctx.storage.deleteAll();
  }
}
