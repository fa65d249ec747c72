/** A participant's raw WebSocket. It parses nothing itself, because its cost is that of the load generator. */
import { type RawData, WebSocket } from "ws";
import { CommandError } from "../../../../src/cli/process/command.ts";

/** The close code of one who leaves for good. */
const LEAVING = 1000;
const ANSWER_LIMIT_MS = 20_000;
/** Concurrent connection attempts: more would only wait for each other. */
const CONNECTING_AT_ONCE = 25;

export type Frame = string | Uint8Array;

/** The client side of a server's protocol. */
export interface ClientProtocol {
  /** The URL of the socket. */
  readonly url: string;
  /** Joins the room and waits until it has joined. */
  join(socket: ClientSocket): Promise<void>;
  /** The reply that this frame requires; null for none. */
  replyTo?(frame: Buffer): Frame | null;
  /** How far apart the frame asks for cursors to be sent, in milliseconds; null if it does not say. */
  intervalOf?(frame: Buffer): number | null;
  /** A message to all others. */
  broadcast(text: string): Frame;
  /** A cursor's position, which a later one may replace before it is delivered. */
  updatePresence(text: string): Frame;
}

export class ClientSocket {
  readonly protocol: ClientProtocol;
  readonly #socket: WebSocket;
  /** Received since the last {@link resetCounts}. */
  frames = 0;
  bytes = 0;
  #onFrame: (frame: Buffer) => void = ignore;
  /** Milliseconds between cursor frames. */
  #cursorInterval = 0;
  #cursorSentAt = Number.NEGATIVE_INFINITY;
  /** The frame to send after the interval. */
  #nextCursor: Frame | null = null;
  /** Why the connection ended; null while it is open. */
  #ending: string | null = null;
  #onEnd: (error: Error) => void = ignore;

  private constructor(protocol: ClientProtocol) {
    this.protocol = protocol;
    this.#socket = new WebSocket(protocol.url, { perMessageDeflate: false, skipUTF8Validation: true });
    this.#socket.on("message", (data) => this.#receive(data));
    this.#socket.on("error", (error) => this.#end(error.message));
    this.#socket.on("close", (code, reason) => this.#end(`${code} ${reason}`));
  }

  /** Connects and joins. */
  static async open(protocol: ClientProtocol): Promise<ClientSocket> {
    const socket = new ClientSocket(protocol);
    await socket.#answered((resolve) => socket.#socket.once("open", resolve));
    await protocol.join(socket);
    return socket;
  }

  static async openAll(protocols: readonly ClientProtocol[], stop: AbortSignal): Promise<ClientSocket[]> {
    const sockets: ClientSocket[] = [];
    for (let first = 0; first < protocols.length; first += CONNECTING_AT_ONCE) {
      stop.throwIfAborted();
      sockets.push(
        ...(await Promise.all(protocols.slice(first, first + CONNECTING_AT_ONCE).map(ClientSocket.open))),
      );
    }
    return sockets;
  }

  #receive(data: RawData): void {
    const frame = bufferOf(data);
    this.frames += 1;
    this.bytes += frame.byteLength;
    const reply = this.protocol.replyTo?.(frame) ?? null;
    if (reply !== null) this.send(reply);
    this.#cursorInterval = this.protocol.intervalOf?.(frame) ?? this.#cursorInterval;
    this.#onFrame(frame);
  }

  #end(how: string): void {
    this.#ending ??= how;
    this.#onEnd(new CommandError(`${this.protocol.url} ended a connection: ${this.#ending}`));
  }

  send(frame: Frame): void {
    this.#socket.send(frame);
  }

  /** Sends a cursor, at once or when the server takes the next one: of several, the latest. */
  sendCursor(frame: Frame): void {
    const waitMs = this.#cursorSentAt + this.#cursorInterval - performance.now();
    if (waitMs > 0 && this.#nextCursor === null) setTimeout(() => this.#sendNextCursor(), waitMs);
    this.#nextCursor = frame;
    if (waitMs <= 0) this.#sendNextCursor();
  }

  #sendNextCursor(): void {
    if (this.#nextCursor === null || this.#ending !== null) return;
    this.send(this.#nextCursor);
    this.#nextCursor = null;
    this.#cursorSentAt = performance.now();
  }

  listen(onFrame: (frame: Buffer) => void): void {
    this.#onFrame = onFrame;
  }

  /** Sends a frame and waits for its response. */
  ask(frame: Frame, isAnswer: (frame: Buffer) => boolean): Promise<void> {
    return this.exchange(() => this.send(frame), isAnswer);
  }

  /** Calls `begin`, and receives frames until `isLast` accepts one. */
  async exchange(begin: () => void, isLast: (frame: Buffer) => boolean): Promise<void> {
    await this.#answered((resolve) => {
      this.listen((frame) => {
        if (isLast(frame)) resolve();
      });
      begin();
    });
    this.listen(ignore);
  }

  #answered(begin: (resolve: () => void) => void): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const limit = setTimeout(
        () => this.#onEnd(new CommandError(`${this.protocol.url} did not answer`)),
        ANSWER_LIMIT_MS,
      );
      this.#onEnd = (error) => {
        clearTimeout(limit);
        reject(error);
      };
      begin(() => {
        clearTimeout(limit);
        this.#onEnd = ignore;
        resolve();
      });
    });
  }

  resetCounts(): void {
    this.frames = 0;
    this.bytes = 0;
  }

  /** Throws if the connection has ended: a server that refuses messages is fast. */
  mustBeOpen(): void {
    if (this.#ending !== null)
      throw new CommandError(`${this.protocol.url} ended a connection: ${this.#ending}`);
  }

  /** Closes as a client does that leaves, and waits until the server has answered. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
    this.#socket.close(LEAVING);
    await closed;
  }

  /** Closes without a handshake, which an overloaded server would delay. */
  terminate(): void {
    this.#socket.terminate();
  }
}

function ignore(): void {}

function bufferOf(data: RawData): Buffer {
  if (Array.isArray(data) || data instanceof ArrayBuffer)
    throw new Error("ws must deliver Buffers by default");
  return data;
}
