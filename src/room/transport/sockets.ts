/** The object's hibernating WebSockets by id: the one place that accepts, sends to and closes them. */

import { UNSENDABLE_CODES } from "@atrium/contract/close-codes.ts";
import { cutToBytes } from "@atrium/contract/text.ts";
import type { Trace } from "../../platform/trace.ts";
import { type Sendable, serialize } from "../protocol/frame.ts";
import { CLOSE, type CloseCode } from "../protocol/protocol.ts";
import type { RoomIdentity } from "../storage/storage.ts";
import { readAttachment, writeAttachment } from "./attachment.ts";
import type { Joined, Waiting } from "./connection.ts";
import { isOfDocuments } from "./connections.ts";
import { Output, SlowReaders } from "./output.ts";
import { type Outgoing, type Receiver, SendQueues } from "./send-queues.ts";

interface SocketPorts {
  now(): number;
  /** The client reads more slowly than the room sends. */
  onSlowReader(id: string): void;
  onSent(size: number): void;
  onReleased(): void;
  /** A frame could not be sent: the client misses it. */
  onFailedSend(id: string, error: unknown): void;
  /** Frames leave although they are held. Throws when they must not. */
  onEarlySend(): void;
  /** Called when some queued frames were sent: marks may be due. */
  onFlushed(): void;
}

/** RFC 6455 allows no longer reason; a socket with one would stay open. */
const MAX_REASON_BYTES = 123;
const NORMAL = 1000;
const TRY_AGAIN_LATER = 1013;
/** Close codes after which clients of documents should reconnect. They give up at 4400 to 4499, so these are mapped to a code that they retry. */
const TRANSIENT: ReadonlySet<number> = new Set([
  CLOSE.joinTimeout,
  CLOSE.tooManySockets,
  CLOSE.readerTooSlow,
  CLOSE.flooding,
]);

/** An open socket, and the abilities of its client. */
interface OpenSocket extends Receiver {
  readonly id: string;
  readonly socket: WebSocket;
  /** The trace of the upgrade; null if unknown. */
  readonly trace: Trace | null;
  /** Accepts several texts as one array. */
  batches: boolean;
  /** Opened by an editor's own client: it receives frames of documents, and no messages of the room. */
  isOfDocuments: boolean;
  /** Null until it has joined. */
  userId: string | null;
  /** Kept in memory only: a room hibernates when it has sent nothing for a while. */
  output: Output;
}

/** A mark that the client of an editor's own socket is to be asked for. */
interface DueMark {
  readonly id: string;
  readonly mark: number;
}

export class Sockets {
  readonly #state: DurableObjectState;
  readonly #ports: SocketPorts;
  readonly #byId = new Map<string, OpenSocket>();
  readonly #bySocket = new Map<WebSocket, OpenSocket>();
  readonly #queues: SendQueues<OpenSocket>;
  readonly #slowReaders = new SlowReaders<OpenSocket>(() => this.#byId.values());
  /** Users of closed sockets whose connections have not ended: the runtime keeps unread bytes until then. */
  readonly #closing = new Map<WebSocket, string>();
  #dueMarks: DueMark[] = [];
  #isHeld = false;
  #identity: RoomIdentity | null = null;

  constructor(state: DurableObjectState, ports: SocketPorts) {
    this.#state = state;
    this.#ports = ports;
    this.#queues = new SendQueues({
      now: () => ports.now(),
      transmit: (open, outgoing) => this.#transmit(open, outgoing),
      sent: (open) => this.#markSent(open),
      flushed: () => {
        this.#closeSlow();
        ports.onFlushed();
      },
    });
  }

  /** The room of the sockets, from their attachments; null while there have been none. */
  get identity(): RoomIdentity | null {
    return this.#identity;
  }

  /** Finds the sockets that survived hibernation; waiting ones in the order of their opening. */
  restore(): (Waiting | Joined)[] {
    const connections = this.#state.getWebSockets().flatMap((socket) => {
      const attached = readAttachment(socket);
      if (attached === null) return [];
      const { identity, connection, trace } = attached;
      this.#identity = identity;
      adapt(this.#add(socket, connection.id, trace), connection);
      return connection;
    });
    const openedAt = (connection: Waiting | Joined) =>
      connection.phase === "waiting" ? connection.openedAt : 0;
    return connections.sort((one, other) => openedAt(one) - openedAt(other));
  }

  accept(socket: WebSocket, id: string, identity: RoomIdentity, trace: Trace | null): void {
    this.#state.acceptWebSocket(socket);
    this.#identity = identity;
    this.#add(socket, id, trace);
  }

  #add(socket: WebSocket, id: string, trace: Trace | null): OpenSocket {
    const open: OpenSocket = {
      id,
      socket,
      trace,
      batches: false,
      isOfDocuments: false,
      userId: null,
      queued: null,
      output: new Output(false),
    };
    this.#byId.set(id, open);
    this.#bySocket.set(socket, open);
    return open;
  }

  traceOf(id: string): Trace | null {
    return this.#byId.get(id)?.trace ?? null;
  }

  idOf(socket: WebSocket): string | null {
    return this.#bySocket.get(socket)?.id ?? null;
  }

  get count(): number {
    return this.#byId.size;
  }

  ids(): string[] {
    return [...this.#byId.keys()];
  }

  attach(connection: Waiting | Joined): void {
    const open = this.#byId.get(connection.id);
    if (open === undefined || this.#identity === null) return;
    adapt(open, connection);
    writeAttachment(open.socket, this.#identity, connection, open.trace);
  }

  /** Sends a message, serialized once. Queued frames go out with {@link requestFlush}. Returns its length. */
  send(ids: readonly string[], message: Sendable): number {
    const frame = serialize(message);
    const outgoing = { frame, eventBytes: message.type === "event" ? frame.length : 0 };
    for (const id of ids) {
      const open = this.#byId.get(id);
      if (open === undefined || open.isOfDocuments) continue;
      this.#queues.add(open, outgoing);
    }
    return frame.length;
  }

  /** Sends a frame of a document. Queued frames go out with {@link requestFlush}. */
  sendBytes(ids: readonly string[], frame: Uint8Array): void {
    const outgoing = { frame, eventBytes: 0 };
    for (const id of ids) {
      const open = this.#byId.get(id);
      if (open !== undefined) this.#queues.add(open, outgoing);
    }
  }

  /** The marks that have become due since the last call. */
  takeDueMarks(): DueMark[] {
    return this.#dueMarks.splice(0);
  }

  /** Milliseconds until the socket may be sent another large answer; null when its client has to read first. */
  answerableIn(id: string): number | null {
    const open = this.#byId.get(id);
    return open === undefined ? 0 : open.output.answerableIn(this.#ports.now());
  }

  /** Whether nothing is queued, and the client has read enough to be sent more presence. */
  canTakeMore(id: string): boolean {
    const open = this.#byId.get(id);
    return open !== undefined && open.queued === null && open.output.canTakeMore(this.#ports.now());
  }

  /** The closed sockets of a user that hold unread bytes. */
  closingOf(userId: string): number {
    return [...this.#closing.values()].filter((other) => other === userId).length;
  }

  watchSending(): () => boolean {
    return this.#queues.watch();
  }

  /** Keeps frames until `work` has ended; if it throws, they stay. {@link requestFlush} sends them. */
  hold(work: () => void): void {
    this.#isHeld = true;
    this.#queues.hold();
    work();
    this.#queues.release();
    this.#isHeld = false;
  }

  /** Sends the queued frames, if there are any, as soon as the cooldown is over. Slow readers are closed at once. */
  requestFlush(): void {
    this.#queues.request();
    this.#closeSlow();
  }

  /** Sends a due mark, or notes it: clients of documents are asked in their protocol. */
  #markSent(open: OpenSocket): void {
    const mark = open.output.nextMark();
    if (mark === null) return;
    if (open.isOfDocuments) this.#dueMarks.push({ id: open.id, mark });
    else this.#send(open, JSON.stringify([{ type: "event", event: "mark", data: { mark } }]));
  }

  #transmit(open: OpenSocket, { frame, eventBytes }: Outgoing): void {
    this.#send(open, frame);
    this.#slowReaders.count(open, frame.length, eventBytes, this.#ports.now());
  }

  #closeSlow(): void {
    for (const { id } of this.#slowReaders.take()) this.#ports.onSlowReader(id);
  }

  /** Sends a frame, unless the socket is closing: then its close arrives as an event of its own. */
  #send({ id, socket }: OpenSocket, frame: string | Uint8Array): void {
    try {
      socket.send(frame);
      this.#ports.onSent(frame.length);
    } catch (error) {
      if (socket.readyState === WebSocket.OPEN) this.#ports.onFailedSend(id, error);
    }
  }

  acknowledgeRead(id: string, mark: number): void {
    this.#byId.get(id)?.output.confirm(mark);
  }

  close(id: string, code: CloseCode, reason: string): void {
    const open = this.#byId.get(id);
    if (open === undefined) return;
    if (this.#isHeld) this.#ports.onEarlySend();
    this.#queues.flush(open);
    if (open.userId !== null && open.output.isHeld) this.#closing.set(open.socket, open.userId);
    this.release(open.socket);
    const isTransient = open.isOfDocuments && TRANSIENT.has(code);
    closeQuietly(open.socket, isTransient ? TRY_AGAIN_LATER : code, reason);
  }

  /** Completes a close that the client began: the runtime leaves that of a hibernating socket to us. */
  answerClose(socket: WebSocket, code: number, reason: string): void {
    this.#closing.delete(socket);
    closeQuietly(socket, UNSENDABLE_CODES.has(code) ? NORMAL : code, reason);
  }

  /** Forgets a socket: later frames from it are ignored. Returns its id. */
  release(socket: WebSocket): string | null {
    const open = this.#bySocket.get(socket);
    if (open === undefined) return null;
    this.#byId.delete(open.id);
    this.#bySocket.delete(socket);
    this.#queues.delete(open);
    this.#slowReaders.delete(open);
    clearQuietly(socket);
    this.#ports.onReleased();
    return open.id;
  }

  /** Forgets the sockets that the runtime no longer has, and returns their ids. */
  releaseVanished(): string[] {
    const present = new Set(this.#state.getWebSockets());
    for (const closed of this.#closing.keys()) if (!present.has(closed)) this.#closing.delete(closed);
    return [...this.#bySocket.keys()].flatMap((socket) =>
      present.has(socket) ? [] : (this.release(socket) ?? []),
    );
  }

  lastPingAt(id: string): number | null {
    const open = this.#byId.get(id);
    if (open === undefined) return null;
    return this.#state.getWebSocketAutoResponseTimestamp(open.socket)?.getTime() ?? null;
  }
}

/** Takes the abilities of the client from a connection. */
function adapt(open: OpenSocket, connection: Waiting | Joined): void {
  const batches = connection.phase === "joined" && connection.batch;
  const isForDocuments = isOfDocuments(connection);
  if (connection.phase === "joined") open.userId = connection.userId;
  if ((batches && !open.batches) || (isForDocuments && !open.isOfDocuments)) open.output = new Output(true);
  open.batches ||= batches;
  open.isOfDocuments ||= isForDocuments;
}

function closeQuietly(socket: WebSocket, code: number, reason: string): void {
  try {
    socket.close(code, cutToBytes(reason, MAX_REASON_BYTES));
  } catch {
    // The socket is closed already, or the code may not be sent: nothing depends on the result.
  }
}

function clearQuietly(socket: WebSocket): void {
  try {
    socket.serializeAttachment(null);
  } catch {
    // The socket is closing. A restart before its end takes it for a joined one until then.
  }
}
