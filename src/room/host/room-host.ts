/** Hosts one room in a Durable Object: owns its sockets, storage and alarm, and carries out the room's effects. */

import { lazily } from "../../platform/lazily.ts";
import { ArchivedDurableObject, StorageArchive } from "../../platform/objects/storage-archive.ts";
import { readTrace } from "../../platform/trace.ts";
import type { Downloads } from "../engine/downloads.ts";
import { CLOSE, isBroken, PING, PONG } from "../protocol/protocol.ts";
import { ROOM_SCHEMA } from "../storage/sqlite-tables.ts";
import { FrameBatcher } from "../transport/batching.ts";
import { type DocumentAddress, HEADERS } from "../types/room-object.ts";
import { roomMetrics } from "./room-context.ts";
import type { RoomEnv, RoomRuntime } from "./room-runtime.ts";
import type { RoomService } from "./room-service.ts";

/** The gateway remembers this refusal. */
const tooManyConnections = (waitMs: number): Response =>
  new Response(null, { status: 429, headers: { "Retry-After": `${Math.ceil(waitMs / 1000)}` } });

/** Parses the document address that the gateway wrote. */
const parseEntry = (header: string | null): DocumentAddress | null =>
  header === null ? null : (JSON.parse(decodeURIComponent(header)) as DocumentAddress);

type Engine = typeof import("./room-engine.ts");
const loadEngine = lazily(() => import("./room-engine.ts"));
/** Opens what a room asks of the features: the same for all rooms of an isolate. */
export type OpenService = () => RoomService;
/** An isolate loads the engine and the service with its first room, which receives nothing before. */
let loaded: { readonly engine: Engine; readonly openService: OpenService } | null = null;

function known() {
  if (loaded === null) throw new Error("The engine of rooms is not loaded yet");
  return loaded;
}

export abstract class RoomHost extends ArchivedDurableObject<RoomEnv> {
  /** Epoch milliseconds; tests replace it with a clock of their own. */
  clock: () => number = () => Date.now();

  readonly archived: StorageArchive;
  /** Opened before the object receives anything. */
  #opened!: RoomRuntime;
  readonly #batcher: FrameBatcher<WebSocket>;

  constructor(ctx: DurableObjectState, env: RoomEnv, loadService: () => Promise<OpenService>) {
    super(ctx, env);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    const now = () => this.clock();
    const open = ({ engine, openService }: NonNullable<typeof loaded>) => {
      this.#opened = new engine.RoomRuntime(ctx, env, openService(), now);
    };
    const early = loaded;
    if (early !== null) open(early);
    this.archived = new StorageArchive({
      storage: ctx.storage,
      schema: ROOM_SCHEMA,
      close: () => {
        const { effects, room, sockets } = this.#opened;
        effects.perform(room.disconnectFailed(sockets.ids()));
        room.streams.live.wakeAll();
      },
      settle: () => this.engine().settleRestored(ctx.storage, now()),
      open: () => {
        open(known());
        this.#opened.alarm.wake();
      },
    });
    this.#batcher = new FrameBatcher({
      handle: (socket, frame) => this.#handle(socket, frame),
      together: (work) => this.#together(work),
      writes: () => this.#opened.storage.writes,
      now: () => Date.now(),
    });
    void ctx.blockConcurrencyWhile(async () => {
      if (early === null) {
        const [engine, openService] = await Promise.all([loadEngine(), loadService()]);
        loaded = { engine, openService };
        open(loaded);
      }
      this.#opened.alarm.wake();
    });
  }

  /** A field, as is {@link runtime}. */
  protected readonly engine = (): Engine => known().engine;

  /** Throws while the room is being restored. A field, as the getters of an object can be read by RPC. */
  protected readonly runtime = (): RoomRuntime => {
    this.archived.requireOpen();
    return this.#opened;
  };

  /** An upgrade or, with a header that names it, a download: forwarded by the gateway. */
  override fetch(request: Request): Response | Promise<Response> {
    const download = request.headers.get(HEADERS.download);
    return download === null
      ? this.#connect(request)
      : respondWithPart(this.runtime().room.downloads, download);
  }

  #connect(request: Request): Response {
    const { context, room, sockets, effects, alarm } = this.runtime();
    const identity = context.identify(
      request.headers.get(HEADERS.account),
      request.headers.get(HEADERS.room),
    );
    const address = request.headers.get(HEADERS.address) ?? "";
    const waitMs = room.connectableIn(address);
    if (waitMs > 0) return tooManyConnections(waitMs);
    const { 0: client, 1: server } = new WebSocketPair();
    const id = crypto.randomUUID();
    sockets.accept(server, id, identity, readTrace(request.headers.get(HEADERS.trace)));
    roomMetrics.add("connections_opened");
    const entry = parseEntry(request.headers.get(HEADERS.document));
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

  /**
   * When storage fails, the object starts anew: nothing of the frames has taken place, and no one has received an answer.
   * While the platform refuses all of it, each frame is refused by itself, and the sockets stay.
   */
  #together(work: () => void): void {
    const { storage } = this.#opened;
    try {
      if (storage.isRefused) work();
      else this.#opened.together(work);
    } catch (error) {
      this.#opened.context.report("A room could not store what its clients have sent", error);
      this.ctx.abort("storage failed");
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
    this.#batcher.finish(); // frames that the socket has sent before
    const { sockets, traces, alarm } = this.#opened;
    const trace = sockets.traceOf(sockets.idOf(socket) ?? "");
    const id = sockets.release(socket);
    if (id === null) return;
    traces.during(trace, () => alarm.remove(id, isForGood));
    alarm.plan();
  }

  override async alarm(): Promise<void> {
    if (this.archived.isRestoring) return;
    this.#batcher.finish(); // a client with waiting frames is not silent
    await this.#opened.alarm.run();
  }
}

/** The next part of a download: each piece is read when the client has taken the one before. 404 if it is not open. */
function respondWithPart(downloads: Downloads, id: string): Response {
  if (!downloads.begin(id)) return new Response(null, { status: 404 });
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const piece = downloads.read(id);
    for (const text of piece?.texts ?? []) controller.enqueue(text);
    // An abandoned download ends within its JSON: its client is gone, or continues over its socket.
    if (piece === null || piece.isLast) controller.close();
  };
  const source = { pull, cancel: () => downloads.close(id) };
  return new Response(new ReadableStream(source, { highWaterMark: 0 }));
}
