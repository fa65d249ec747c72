/** The Durable Object that hosts one room: it owns sockets, storage and alarm, and carries out the room's effects. */
import { DurableObject } from "cloudflare:workers";
import type { EventCause } from "../delivery/port/event-cause.ts";
import type { Env } from "../env.ts";
import { AppError } from "../platform/errors.ts";
import { readTrace, type Trace } from "../platform/trace.ts";
import { DocumentCalls } from "./document-calls.ts";
import { respondWithPart } from "./download-response.ts";
import type { PersonalPart, RecordsOfUser } from "./port/personal-data.ts";
import type { TracedCommand } from "./port/room-command.ts";
import {
  ACCOUNT_HEADER,
  ADDRESS_HEADER,
  DOCUMENT_HEADER,
  DOWNLOAD_HEADER,
  type DocumentAddress,
  ROOM_HEADER,
  type RoomRpc,
  TRACE_HEADER,
} from "./port/room-gateway.ts";
import type { Reconciliation, RoomSnapshot, RoomStats, UserSnapshot } from "./port/snapshots.ts";
import { failure, serialize, success } from "./protocol/frame.ts";
import { CLOSE, type Fault, isBroken, PING, PONG } from "./protocol/protocol.ts";
import type { RoomRequest, Visit } from "./protocol/room-request.ts";
import { isReported } from "./requests.ts";
import type { Room } from "./room.ts";
import type { RoomContext } from "./room-context.ts";
import { figures } from "./room-figures.ts";
import { RoomParts } from "./room-parts.ts";
import { PartialFailure } from "./room-updates.ts";
import { SharedTurns } from "./transport/shared-turns.ts";
import type { Sockets } from "./transport/sockets.ts";

/** For the gateway, which remembers it. */
const tooManyConnections = (waitMs: number): Response =>
  new Response(null, { status: 429, headers: { "Retry-After": `${Math.ceil(waitMs / 1000)}` } });

/** As the gateway wrote it. */
const parseEntry = (header: string | null): DocumentAddress | null =>
  header === null ? null : (JSON.parse(decodeURIComponent(header)) as DocumentAddress);

const faultOf = ({ module, code, message }: AppError): Fault => ({ module, code, message });

export class RoomObject extends DurableObject<Env> implements RoomRpc {
  /** Epoch milliseconds; tests replace it with a clock of their own. */
  clock: () => number = () => Date.now();

  readonly #context: RoomContext;
  readonly #room: Room;
  readonly #sockets: Sockets;
  readonly #parts: RoomParts;
  readonly #documents: DocumentCalls;
  readonly #turns: SharedTurns<WebSocket>;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    this.#parts = new RoomParts(ctx, env, () => this.clock());
    ({ context: this.#context, room: this.#room, sockets: this.#sockets } = this.#parts);
    this.#documents = new DocumentCalls(this.#parts);
    this.#turns = new SharedTurns({
      handle: (socket, frame) => this.#handle(socket, frame),
      writes: () => this.#parts.storage.writes,
      now: () => Date.now(),
    });
    void ctx.blockConcurrencyWhile(async () => this.#parts.alarm.wake());
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
    this.#sockets.accept(server, id, identity, readTrace(request.headers.get(TRACE_HEADER)));
    figures.add("connections_opened");
    const entry = parseEntry(request.headers.get(DOCUMENT_HEADER));
    this.#parts.effects.perform(this.#room.open(id, address, entry));
    this.#parts.alarm.plan();
    const headers = new Headers();
    if (typeof entry?.protocol === "string") headers.set("Sec-WebSocket-Protocol", entry.protocol);
    return new Response(null, { status: 101, webSocket: client, headers });
  }

  override webSocketMessage(socket: WebSocket, frame: string | ArrayBuffer): void {
    this.#turns.receive(socket, frame);
  }

  #handle(socket: WebSocket, frame: string | ArrayBuffer): void {
    const id = this.#sockets.idOf(socket);
    if (id === null) return;
    figures.add("frames_received");
    figures.add("bytes_received", typeof frame === "string" ? frame.length : frame.byteLength);
    try {
      const effects = this.#parts.traces.during(this.#sockets.traceOf(id), () =>
        this.#room.messages.receive(id, frame),
      );
      this.#parts.effects.perform(effects);
    } catch (error) {
      this.#parts.effects.fail([id], "A room could not handle a frame", error);
      this.#parts.alarm.plan();
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
    this.#turns.finish(); // what it has sent before
    const trace = this.#sockets.traceOf(this.#sockets.idOf(socket) ?? "");
    const id = this.#sockets.release(socket);
    if (id === null) return;
    this.#parts.traces.during(trace, () => this.#parts.alarm.remove(id, isForGood));
    this.#parts.alarm.plan();
  }

  override alarm(): Promise<void> {
    this.#turns.finish(); // who has sent something is not silent
    return this.#parts.alarm.run();
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

  /** Some of what the room keeps of a user. */
  readPersonalData(
    accountId: string,
    userId: string,
    part: PersonalPart,
    after: string | null,
  ): RecordsOfUser {
    this.#context.identify(accountId);
    return this.#room.personalData(userId, part, after);
  }

  /** Sets the counter to the users who have a live socket, here and in the database. */
  async reconcile(accountId: string): Promise<Reconciliation> {
    this.#context.identify(accountId);
    this.#parts.alarm.closeVanished();
    const { previous, effects } = this.#room.reconcile();
    this.#parts.effects.perform(effects);
    this.#parts.alarm.plan(); // before the copy below, which may fail
    const { stats } = this.#room;
    await this.#parts.statsProjection.copy();
    return { previous, reconciled: stats.activeParticipants, stats };
  }

  /** Applies a change that was made over REST to the connected users. Idempotent. Returns the stats after it. */
  async apply(accountId: string, command: TracedCommand): Promise<RoomStats> {
    this.#context.identify(accountId);
    try {
      const { trace = null } = command;
      this.#parts.effects.perform(this.#parts.traces.during(trace, () => this.#room.updates.apply(command)));
    } catch (error) {
      if (!(error instanceof PartialFailure)) throw error;
      this.#parts.effects.perform(error.effects);
      throw error.cause;
    }
    if (command.type === "room.deleted") await this.#erase();
    else this.#parts.alarm.plan();
    await this.#parts.reads.refreshed();
    // The room's events that follow from this change precede the caller's own events about it.
    await this.#parts.outboxDrain.settled();
    if (command.type === "user.erased") await this.#parts.eraseFromLog(command.userId);
    return this.#room.stats;
  }

  /**
   * Handles a request of the organization or, with `cause`, of a workflow's run for it. Request and response are JSON,
   * as they hold any value that users send. `trace` is that of the request over REST.
   */
  async request(
    accountId: string,
    request: string,
    cause: EventCause | null = null,
    trace: Trace | null = null,
  ): Promise<string> {
    this.#context.identify(accountId);
    const parsed = JSON.parse(request) as RoomRequest;
    await (isReported(parsed) ? this.#parts.reads.requireRow() : this.#parts.reads.requireExisting());
    const { response, effects } = this.#parts.traces.during(trace, () =>
      this.#room.request(parsed, null, cause),
    );
    this.#parts.effects.perform(effects);
    return serialize(response);
  }

  /** A user takes part without a socket for a time. Takes a {@link Visit} and returns the response, both as JSON. */
  async visit(accountId: string, userId: string, visit: string, trace: Trace | null = null): Promise<string> {
    this.#context.identify(accountId);
    try {
      const visitor = await this.#parts.joins.readVisitor(userId);
      const { endsAt, effects } = this.#parts.traces.during(trace, () =>
        this.#room.visits.begin(visitor, JSON.parse(visit) as Visit),
      );
      this.#parts.effects.perform(effects);
      return serialize(success("Participant added", { endsAt }, undefined));
    } catch (error) {
      if (error instanceof AppError) return serialize(failure(faultOf(error), undefined));
      this.#parts.alarm.recoverSoon(); // a session may have begun whose end could not be stored
      throw error;
    }
  }

  /** Handles batches of a user or, with null, of the organization: one transaction each. Takes and returns JSON. */
  async writeStores(accountId: string, userId: string | null, batches: string): Promise<string> {
    this.#context.identify(accountId);
    await this.#parts.reads.requireExisting();
    const responses = (JSON.parse(batches) as RoomRequest[]).map((batch) => {
      const { response, effects } = this.#room.request(batch, userId);
      this.#parts.effects.perform(effects);
      return serialize(response);
    });
    return `[${responses.join()}]`;
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
    this.#parts.alarm.plan();
    await this.#parts.outboxDrain.finish();
    this.#parts.effects.perform(this.#room.clear());
    this.#parts.alarm.forget();
    await this.ctx.storage.deleteAll();
  }
}
