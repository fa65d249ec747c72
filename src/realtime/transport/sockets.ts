/** The object's hibernating WebSockets by id: the one place that accepts, sends to and closes them. */
import { serialize } from "../protocol/frame.ts";
import type { CloseCode, ServerMessage } from "../protocol/protocol.ts";
import type { RoomIdentity } from "../storage/storage.ts";
import { clearAttachment, readAttachment, writeAttachment } from "./attachment.ts";
import type { Joined, Waiting } from "./connection.ts";
import { FlushTimer, RestPolicy } from "./flush.ts";

/** After this many bytes of events, a client is asked to confirm that it has read them. */
const MARK_EVERY_BYTES = 1024 * 1024;
/** Bytes of events that may be sent to a client beyond what it has confirmed. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/**
 * One socket. The byte counts find clients that read too slowly: the runtime does not say how much is buffered,
 * so the client itself is asked. They are in memory only, as a room that hibernates has nothing in flight.
 */
interface OpenSocket {
  readonly id: string;
  readonly socket: WebSocket;
  /** Accepts several frames as one array. */
  batches: boolean;
  queued: string[];
  /** Of the queued frames, those that are events: what a client requests itself does not make it slow. */
  queuedEventBytes: number;
  /** Bytes of events sent. */
  sentBytes: number;
  /** `sentBytes` when the latest mark was sent. */
  markedBytes: number;
  /** The latest mark that the client has confirmed. */
  readBytes: number;
}

interface SocketPorts {
  now(): number;
  /** The client reads more slowly than the room sends. */
  onSlowReader(id: string): void;
  /** A frame could not be sent: the client misses it. */
  onFailedSend(id: string, error: unknown): void;
}

export class Sockets {
  readonly #state: DurableObjectState;
  readonly #ports: SocketPorts;
  readonly #byId = new Map<string, OpenSocket>();
  readonly #bySocket = new Map<WebSocket, OpenSocket>();
  /** The sockets with queued frames. */
  readonly #queues = new Set<OpenSocket>();
  readonly #rest = new RestPolicy();
  readonly #timer: FlushTimer;
  #identity: RoomIdentity | null = null;

  constructor(state: DurableObjectState, ports: SocketPorts) {
    this.#state = state;
    this.#ports = ports;
    this.#timer = new FlushTimer(
      () => ports.now(),
      this.#rest,
      () => this.#flush(),
    );
  }

  /** The room of the sockets, from their attachments; null while there have been none. */
  get identity(): RoomIdentity | null {
    return this.#identity;
  }

  /** Finds the sockets that survived hibernation. */
  restore(): (Waiting | Joined)[] {
    return this.#state.getWebSockets().flatMap((socket) => {
      const attached = readAttachment(socket);
      if (attached === null) return [];
      const { identity, connection } = attached;
      this.#identity = identity;
      this.#add(socket, connection.id).batches = connection.phase === "joined" && connection.batch;
      return connection;
    });
  }

  accept(socket: WebSocket, id: string, identity: RoomIdentity): void {
    this.#state.acceptWebSocket(socket);
    this.#identity = identity;
    this.#add(socket, id);
  }

  #add(socket: WebSocket, id: string): OpenSocket {
    const bytes = { queuedEventBytes: 0, sentBytes: 0, markedBytes: 0, readBytes: 0 };
    const open: OpenSocket = { id, socket, batches: false, queued: [], ...bytes };
    this.#byId.set(id, open);
    this.#bySocket.set(socket, open);
    return open;
  }

  /** Null for a socket that the room has closed or released. */
  idOf(socket: WebSocket): string | null {
    return this.#bySocket.get(socket)?.id ?? null;
  }

  attach(connection: Waiting | Joined): void {
    const open = this.#byId.get(connection.id);
    if (open === undefined || this.#identity === null) return;
    open.batches = connection.phase === "joined" && connection.batch;
    writeAttachment(open.socket, this.#identity, connection);
  }

  /** Sends one message, serialized once for all receivers; clients that accept arrays receive it with {@link requestFlush}. */
  send(ids: readonly string[], message: ServerMessage): void {
    const frame = serialize(message);
    const eventBytes = message.type === "event" ? frame.length : 0;
    for (const id of ids) {
      const open = this.#byId.get(id);
      if (open === undefined) continue;
      if (!open.batches) {
        this.#transmit(open, frame);
        continue;
      }
      open.queued.push(frame);
      open.queuedEventBytes += eventBytes;
      this.#queues.add(open);
    }
  }

  /** Sends the queued frames, if there are any, as soon as the room has rested. */
  requestFlush(): void {
    if (this.#queues.size > 0) this.#timer.request();
  }

  #flush(): void {
    const queues = [...this.#queues];
    const slow = queues.filter((open) => !this.#flushOne(open));
    this.#rest.recordFlush(this.#ports.now(), queues.length);
    for (const { id } of slow) this.#ports.onSlowReader(id);
  }

  /** Sends a socket's queued frames as one array. False when its client reads too slowly. */
  #flushOne(open: OpenSocket): boolean {
    if (!this.#queues.delete(open)) return true;
    this.#transmit(open, `[${open.queued.join()}]`);
    open.sentBytes += open.queuedEventBytes;
    open.queued = [];
    open.queuedEventBytes = 0;
    if (open.sentBytes - open.readBytes > MAX_UNREAD_BYTES) return false;
    if (open.sentBytes - open.markedBytes >= MARK_EVERY_BYTES) {
      open.markedBytes = open.sentBytes;
      const data = { mark: open.markedBytes };
      this.#transmit(open, JSON.stringify([{ type: "event", event: "mark", data }]));
    }
    return true;
  }

  /** Sends a frame, unless the socket is closing: then its close arrives as an event of its own. */
  #transmit({ id, socket }: OpenSocket, frame: string): void {
    try {
      socket.send(frame);
    } catch (error) {
      if (socket.readyState === WebSocket.OPEN) this.#ports.onFailedSend(id, error);
    }
  }

  /** The client has read everything sent before this mark. */
  acknowledgeRead(id: string, mark: number): void {
    const open = this.#byId.get(id);
    if (open !== undefined && mark <= open.markedBytes) open.readBytes = Math.max(open.readBytes, mark);
  }

  /** Closes a socket after sending what is queued for it. */
  close(id: string, code: CloseCode, reason: string): void {
    const open = this.#byId.get(id);
    if (open === undefined) return;
    this.#flushOne(open);
    this.release(open.socket);
    closeQuietly(open.socket, code, reason);
  }

  /** Completes a close that the client began: the runtime leaves that of a hibernating socket to us. */
  answerClose(socket: WebSocket, code: number, reason: string): void {
    // 1005, 1006 and 1015 describe how a socket ended and may not be sent.
    closeQuietly(socket, code === 1005 || code === 1006 || code === 1015 ? 1000 : code, reason);
  }

  /** Forgets a socket: later frames from it are ignored. Returns its id. */
  release(socket: WebSocket): string | null {
    const open = this.#bySocket.get(socket);
    if (open === undefined) return null;
    this.#byId.delete(open.id);
    this.#bySocket.delete(socket);
    this.#queues.delete(open);
    clearQuietly(socket);
    return open.id;
  }

  /** Forgets the sockets that the runtime no longer has, and returns their ids. */
  releaseVanished(): string[] {
    const present = new Set(this.#state.getWebSockets());
    return [...this.#bySocket.keys()].flatMap((socket) =>
      present.has(socket) ? [] : (this.release(socket) ?? []),
    );
  }

  /** When the runtime last answered the socket's ping by itself (epoch ms). */
  lastPingAt(id: string): number | null {
    const open = this.#byId.get(id);
    if (open === undefined) return null;
    return this.#state.getWebSocketAutoResponseTimestamp(open.socket)?.getTime() ?? null;
  }
}

function clearQuietly(socket: WebSocket): void {
  try {
    clearAttachment(socket);
  } catch {
    // The socket is being closed: should the room restart before it is, it takes it for a joined one until then.
  }
}

function closeQuietly(socket: WebSocket, code: number, reason: string): void {
  try {
    socket.close(code, reason);
  } catch {
    // It is closed already, or its code may not be sent: nothing depends on the result.
  }
}
