/** The object's hibernating WebSockets by id: what is kept with each, and the one place that sends and closes. */

import { type CloseCode, type ServerMessage, serialize } from "../protocol/protocol.ts";
import type { RoomIdentity } from "../storage/storage.ts";
import { Backpressure } from "./backpressure.ts";
import type { Joined, Waiting } from "./connections.ts";

/** What is kept with a socket through hibernation; null once the room has closed it. */
interface Attachment {
  readonly identity: RoomIdentity;
  readonly connection: Waiting | Omit<Joined, "presence">;
  /** The presence state as UTF-8: a string with one character beyond Latin 1 would take twice its length. */
  readonly presence: Uint8Array | null;
}

interface WaitingFrames {
  readonly frames: string[];
  /** Of those frames that are events. */
  unaskedBytes: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Sockets {
  readonly #state: DurableObjectState;
  readonly #byId = new Map<string, WebSocket>();
  /** What waits for the next flush, by the id of a socket that takes arrays. */
  readonly #waiting = new Map<string, WaitingFrames>();
  readonly #marks = new Backpressure();
  /** Sockets that read too slowly, until the room is told. */
  #slow: string[] = [];
  readonly #batching = new Set<string>();
  readonly #ids = new Map<WebSocket, string>();
  #identity: RoomIdentity | null = null;

  constructor(state: DurableObjectState) {
    this.#state = state;
  }

  /** The room that the sockets are in, as they were told; null while there have been none. */
  get identity(): RoomIdentity | null {
    return this.#identity;
  }

  /** Finds the sockets that outlived hibernation again. */
  restore(): (Waiting | Joined)[] {
    return this.#state.getWebSockets().flatMap((socket) => {
      const attachment = readAttachment(socket);
      if (attachment === null) return [];
      this.#identity = attachment.identity;
      this.#add(socket, attachment.connection.id);
      const connection = connectionOf(attachment);
      this.#note(connection);
      return connection;
    });
  }

  accept(socket: WebSocket, id: string, identity: RoomIdentity): void {
    this.#state.acceptWebSocket(socket);
    this.#identity = identity;
    this.#add(socket, id);
  }

  #add(socket: WebSocket, id: string): void {
    this.#byId.set(id, socket);
    this.#ids.set(socket, id);
  }

  /** Null for a socket that the room has closed or let go. */
  idOf(socket: WebSocket): string | null {
    return this.#ids.get(socket) ?? null;
  }

  attach(connection: Waiting | Joined): void {
    const socket = this.#byId.get(connection.id);
    if (socket === undefined || this.#identity === null) return;
    this.#note(connection);
    writeAttachment(socket, attachmentOf(this.#identity, connection));
  }

  #note(connection: Waiting | Joined): void {
    if (connection.phase === "joined" && connection.batch) this.#batching.add(connection.id);
  }

  /** Sends one message, serialised once for all of its receivers; those that take arrays get it by {@link flush}. */
  send(ids: readonly string[], message: ServerMessage): void {
    const frame = serialize(message);
    // What a client asked for itself is no sign of its being slow, however long it takes to read.
    const unaskedBytes = message.type === "event" ? frame.length : 0;
    for (const id of ids) {
      if (this.#batching.has(id)) this.#queue(id, frame, unaskedBytes);
      else this.#transmit(id, frame);
    }
  }

  #queue(id: string, frame: string, unaskedBytes: number): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) this.#waiting.set(id, { frames: [frame], unaskedBytes });
    else {
      waiting.frames.push(frame);
      waiting.unaskedBytes += unaskedBytes;
    }
  }

  #transmit(id: string, frame: string): void {
    try {
      this.#byId.get(id)?.send(frame);
    } catch {
      // The other side is closing: its leaving comes as a close of its own.
    }
  }

  get hasWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Sends what waits: to each socket as one frame, which holds an array. Returns how many frames that makes. */
  flush(): number {
    const frames = this.#waiting.size;
    for (const id of this.#waiting.keys()) this.#flushOne(id);
    return frames;
  }

  /** Hands over the sockets that were found to read too slowly. */
  takeSlow(): string[] {
    const slow = this.#slow;
    this.#slow = [];
    return slow;
  }

  #flushOne(id: string): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    this.#transmit(id, `[${waiting.frames.join()}]`);
    const { mark, isTooSlow } = this.#marks.count(id, waiting.unaskedBytes);
    if (isTooSlow) this.#slow.push(id);
    else if (mark !== null)
      this.#transmit(id, JSON.stringify([{ type: "event", event: "mark", data: { mark } }]));
  }

  /** The socket says that it has read all that came before this mark. */
  noteRead(id: string, mark: number): void {
    this.#marks.answered(id, mark);
  }

  /** What was sent before arrives before. */
  close(id: string, code: CloseCode, reason: string): void {
    const socket = this.#byId.get(id);
    if (socket === undefined) return;
    this.#flushOne(id);
    this.release(socket);
    closeQuietly(socket, code, reason);
  }

  /** Answers the other side's close: the runtime leaves that of a hibernating socket to us. */
  answerClose(socket: WebSocket, code: number, reason: string): void {
    // 1005, 1006 and 1015 say how a socket ended and may not be sent.
    closeQuietly(socket, code === 1005 || code === 1006 || code === 1015 ? 1000 : code, reason);
  }

  /** Lets a socket go: what still comes from it concerns nobody. Returns its id. */
  release(socket: WebSocket): string | null {
    const id = this.idOf(socket);
    if (id === null) return null;
    this.#byId.delete(id);
    this.#ids.delete(socket);
    this.#waiting.delete(id);
    this.#batching.delete(id);
    this.#marks.forget(id);
    writeAttachment(socket, null);
    return id;
  }

  /** Lets the sockets go that the runtime no longer knows, and returns their ids. */
  releaseVanished(): string[] {
    const present = new Set(this.#state.getWebSockets());
    return [...this.#ids].flatMap(([socket]) => (present.has(socket) ? [] : (this.release(socket) ?? [])));
  }

  /** When the runtime last answered the socket's ping by itself. */
  lastPingAt(id: string): number | null {
    const socket = this.#byId.get(id);
    if (socket === undefined) return null;
    return this.#state.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? null;
  }
}

function closeQuietly(socket: WebSocket, code: number, reason: string): void {
  try {
    socket.close(code, reason);
  } catch {
    // It is closed already, or its code is one that may not be sent: either way nobody waits for this.
  }
}

function attachmentOf(identity: RoomIdentity, connection: Waiting | Joined): Attachment {
  if (connection.phase === "waiting") return { identity, connection, presence: null };
  const { presence, ...rest } = connection;
  return { identity, connection: rest, presence: presence === null ? null : encoder.encode(presence) };
}

function connectionOf({ connection, presence }: Attachment): Waiting | Joined {
  if (connection.phase === "waiting") return connection;
  return { ...connection, presence: presence === null ? null : decoder.decode(presence) };
}

const readAttachment = (socket: WebSocket): Attachment | null =>
  socket.deserializeAttachment() as Attachment | null;

function writeAttachment(socket: WebSocket, attachment: Attachment | null): void {
  socket.serializeAttachment(attachment);
}
