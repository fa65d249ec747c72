/** The Durable Object that hosts one room: it owns sockets, storage and alarm, and carries out the room's effects. */
import { ArchivedDurableObject } from "../../platform/archive/archived-durable-object.ts";
import { StorageArchive } from "../../platform/archive/storage-archive.ts";
import { readTrace } from "../../platform/trace.ts";
import type { RoomStats } from "../../wire/snapshots.ts";
import { PartialFailure } from "../engine/partial-failure.ts";
import type { PersonalPart, RecordsOfUser } from "../port/personal-data.ts";
import type { TracedCommand } from "../port/room-command.ts";
import type { RoomRpc } from "../port/room-rpc.ts";
import {
  ACCOUNT_HEADER,
  ADDRESS_HEADER,
  DOCUMENT_HEADER,
  DOWNLOAD_HEADER,
  type DocumentAddress,
  ROOM_HEADER,
  TRACE_HEADER,
} from "../port/upgrade-headers.ts";
import { CLOSE, isBroken } from "../protocol/close.ts";
import { PING, PONG } from "../protocol/protocol.ts";
import { ROOM_SCHEMA } from "../storage/sqlite-tables.ts";
import { FrameBatcher } from "../transport/frame-batcher.ts";
import { DocumentCalls } from "./document-calls.ts";
import { respondWithPart } from "./download-response.ts";
import { RoomCalls } from "./room-calls.ts";
import { roomMetrics } from "./room-context.ts";
import type { RoomPorts } from "./room-ports.ts";
import { type RoomEnv, RoomRuntime } from "./room-runtime.ts";
import { settleRestored } from "./settle-restored.ts";

/** For the gateway, which remembers it. */
const tooManyConnections = (waitMs: number): Response =>
  new Response(null, { status: 429, headers: { "Retry-After": `${Math.ceil(waitMs / 1000)}` } });

/** As the gateway wrote it. */
const parseEntry = (header: string | null): DocumentAddress | null =>
  header === null ? null : (JSON.parse(decodeURIComponent(header)) as DocumentAddress);

export class RoomObject extends ArchivedDurableObject<RoomEnv> implements RoomRpc {
  /** Epoch milliseconds; tests replace it with a clock of their own. */
  clock: () => number = () => Date.now();

  readonly archived: StorageArchive;
  #opened: RoomRuntime;
  readonly #batcher: FrameBatcher<WebSocket>;

  constructor(ctx: DurableObjectState, env: RoomEnv, ports: RoomPorts) {
    super(ctx, env);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    const now = () => this.clock();
    this.archived = new StorageArchive({
      storage: ctx.storage,
      schema: ROOM_SCHEMA,
      close: () => {
        const { effects, room, sockets } = this.#opened;
        effects.perform(room.disconnectFailed(sockets.ids()));
      },
      settle: () => settleRestored(ctx.storage, now()),
      open: () => {
        this.#opened = new RoomRuntime(ctx, env, ports, now);
        this.#opened.alarm.wake();
      },
    });
    this.#opened = new RoomRuntime(ctx, env, ports, now);
    this.#batcher = new FrameBatcher({
      handle: (socket, frame) => this.#handle(socket, frame),
      writes: () => this.#opened.storage.writes,
      now: () => Date.now(),
    });
    void ctx.blockConcurrencyWhile(async () => this.#opened.alarm.wake());
  }

  /** Throws while the room is being restored. */
  get #parts(): RoomRuntime {
    this.archived.requireOpen();
    return this.#opened;
  }

  get #calls(): RoomCalls {
    return new RoomCalls(this.#parts);
  }

  get #documents(): DocumentCalls {
    return new DocumentCalls(this.#parts);
  }

  /** An upgrade or, with a header that names it, a download: forwarded by the gateway. */
  override fetch(request: Request): Response {
    const download = request.headers.get(DOWNLOAD_HEADER);
    return download === null ? this.#connect(request) : respondWithPart(this.#parts.room.downloads, download);
  }

  #connect(request: Request): Response {
    const { context, room, sockets, effects, alarm } = this.#parts;
    const identity = context.identify(request.headers.get(ACCOUNT_HEADER), request.headers.get(ROOM_HEADER));
    const address = request.headers.get(ADDRESS_HEADER) ?? "";
    const waitMs = room.connectableIn(address);
    if (waitMs > 0) return tooManyConnections(waitMs);
    const { 0: client, 1: server } = new WebSocketPair();
    const id = crypto.randomUUID();
    sockets.accept(server, id, identity, readTrace(request.headers.get(TRACE_HEADER)));
    roomMetrics.add("connections_opened");
    const entry = parseEntry(request.headers.get(DOCUMENT_HEADER));
    effects.perform(room.open(id, address, entry));
    alarm.plan();
    const headers = new Headers();
    if (typeof entry?.protocol === "string") headers.set("Sec-WebSocket-Protocol", entry.protocol);
    return new Response(null, { status: 101, webSocket: client, headers });
  }

  override webSocketMessage(socket: WebSocket, frame: string | ArrayBuffer): void {
    this.#batcher.receive(socket, frame);
  }

  #handle(socket: WebSocket, frame: string | ArrayBuffer): void {
    const { room, sockets, traces, effects, alarm } = this.#opened;
    const id = sockets.idOf(socket);
    if (id === null) return;
    roomMetrics.add("frames_received");
    roomMetrics.add("bytes_received", typeof frame === "string" ? frame.length : frame.byteLength);
    try {
      effects.perform(traces.during(sockets.traceOf(id), () => room.messages.receive(id, frame)));
    } catch (error) {
      effects.fail([id], "A room could not handle a frame", error);
      alarm.plan();
    }
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void {
    this.#release(socket, !isBroken(code));
    this.#opened.sockets.answerClose(socket, code, reason);
  }

  override webSocketError(socket: WebSocket): void {
    this.#release(socket, false);
    this.#opened.sockets.answerClose(socket, CLOSE.failed, "connection failed");
  }

  #release(socket: WebSocket, isForGood: boolean): void {
    this.#batcher.finish(); // what it has sent before
    const { sockets, traces, alarm } = this.#opened;
    const trace = sockets.traceOf(sockets.idOf(socket) ?? "");
    const id = sockets.release(socket);
    if (id === null) return;
    traces.during(trace, () => alarm.remove(id, isForGood));
    alarm.plan();
  }

  override async alarm(): Promise<void> {
    if (this.archived.isRestoring) return;
    this.#batcher.finish(); // who has sent something is not silent
    await this.#opened.alarm.run();
  }

  read(...call: Parameters<RoomCalls["read"]>) {
    return this.#calls.read(...call);
  }

  readUser(...call: Parameters<RoomCalls["readUser"]>) {
    return this.#calls.readUser(...call);
  }

  /** Some of what the room keeps of a user. */
  readPersonalData(
    accountId: string,
    userId: string,
    part: PersonalPart,
    after: string | null,
  ): RecordsOfUser {
    this.#parts.context.identify(accountId);
    return this.#parts.room.personalData(userId, part, after);
  }

  reconcile(...call: Parameters<RoomCalls["reconcile"]>) {
    return this.#calls.reconcile(...call);
  }

  /** Applies a change that was made over REST to the connected users. Idempotent. Returns the stats after it. */
  async apply(accountId: string, command: TracedCommand): Promise<RoomStats> {
    if (command.type === "room.deleted") await this.archived.discard();
    const { context, room, effects, traces, reads, outboxDrain, alarm } = this.#parts;
    context.identify(accountId);
    try {
      const { trace = null } = command;
      effects.perform(traces.during(trace, () => room.updates.apply(command)));
    } catch (error) {
      if (!(error instanceof PartialFailure)) throw error;
      effects.perform(error.effects);
      throw error.cause;
    }
    if (command.type === "room.deleted") await this.#erase();
    else alarm.plan();
    await reads.refreshed();
    // The room's events that follow from this change precede the caller's own events about it.
    await outboxDrain.settled();
    if (command.type === "user.erased") await this.#parts.eraseFromLog(command.userId);
    return room.stats;
  }

  request(...call: Parameters<RoomCalls["request"]>) {
    return this.#calls.request(...call);
  }

  visit(...call: Parameters<RoomCalls["visit"]>) {
    return this.#calls.visit(...call);
  }

  writeStores(...call: Parameters<RoomCalls["writeStores"]>) {
    return this.#calls.writeStores(...call);
  }

  listDocuments(...call: Parameters<DocumentCalls["list"]>) {
    return this.#documents.list(...call);
  }

  describeDocument(...call: Parameters<DocumentCalls["describe"]>) {
    return this.#documents.describe(...call);
  }

  readDocument(...call: Parameters<DocumentCalls["read"]>) {
    return this.#documents.read(...call);
  }

  writeDocument(...call: Parameters<DocumentCalls["write"]>) {
    return this.#documents.write(...call);
  }

  deleteDocument(...call: Parameters<DocumentCalls["delete"]>) {
    return this.#documents.delete(...call);
  }

  readTrail(...call: Parameters<DocumentCalls["readTrail"]>) {
    return this.#documents.readTrail(...call);
  }

  listVersions(...call: Parameters<DocumentCalls["listVersions"]>) {
    return this.#documents.listVersions(...call);
  }

  readVersion(...call: Parameters<DocumentCalls["readVersion"]>) {
    return this.#documents.readVersion(...call);
  }

  readWritten(...call: Parameters<DocumentCalls["readWritten"]>) {
    return this.#documents.readWritten(...call);
  }

  changeVersion(...call: Parameters<DocumentCalls["changeVersion"]>) {
    return this.#documents.changeVersion(...call);
  }

  /** Deletes everything including the alarm, once all events are passed on; rejects until then. */
  async #erase(): Promise<void> {
    const { alarm, outboxDrain, effects, room } = this.#parts;
    alarm.plan();
    await outboxDrain.finish();
    effects.perform(room.clear());
    alarm.forget();
    await this.ctx.storage.deleteAll();
  }
}
