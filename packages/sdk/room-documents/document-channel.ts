/** The documents of one client: their frames on the room's socket, and their synchronization one after the other. */
import { type Rate, TokenBucket } from "@atrium/contract/pacing/token-bucket.ts";
import type { Data } from "../client/connection/frames.ts";
import { inspectionOf } from "../client/inspected.ts";
import type { Inspection } from "../client/inspection.ts";
import { Emitter, getOrAdd } from "../core/emitter.ts";
import { type DocumentMessage, readFrame } from "./frames.ts";

/** The longest turn of a document; others follow, and it asks again. */
const TURN_MS = 30_000;
/** Rate of frames: with the client's other frames, it stays below the limit of a connection (R60). */
const SEND_RATE: Rate = { perSecond: 40, burst: 150 };
/** The room counts a frame once, and once more for each full of these bytes. */
const FRAME_BYTES = 64 * 1024;
const RATE_DELAY_MS = 50;

export interface OpenDocument {
  readonly key: string;
  /** The document's turn to synchronize, until `synchronized` is called. */
  synchronize(): void;
  receive(message: DocumentMessage): void;
  lost(): void;
  drained(): void;
}

interface ChannelEvents {
  changed: undefined;
}

const channels = new WeakMap<object, DocumentChannel>();

export function channelOf(client: object): DocumentChannel {
  return getOrAdd(channels, client, () => new DocumentChannel(inspectionOf(client)));
}

export class DocumentChannel extends Emitter<ChannelEvents> {
  readonly #inspection: Inspection;
  readonly #documents = new Map<string, OpenDocument>();
  /** Documents that wait for their turn: the room sends large ones one at a time. */
  readonly #waiting = new Set<OpenDocument>();
  #turn: OpenDocument | null = null;
  #cancelTurn = () => {};
  #unsent: Uint8Array<ArrayBuffer>[] = [];
  #bucket = new TokenBucket(SEND_RATE, 0);
  #cancelTimer = () => {};
  #keys = 0;

  constructor(inspection: Inspection) {
    super();
    this.#inspection = inspection;
    const { connection } = inspection;
    connection.changeStream.onJoined(() => this.#connected());
    const changed = () => this.emit("changed", undefined);
    connection.on("disconnected", changed);
    connection.on("reconnecting", changed);
    connection.on("failed", changed);
    if (connection.requests.isConnected) this.#connected();
  }

  /** Each session of a document has a key of its own. */
  newKey(name: string): string {
    this.#keys += 1;
    return this.#keys === 1 ? name : `${name}\0${this.#keys}`;
  }

  get runtime(): Inspection["runtime"] {
    return this.#inspection.runtime;
  }

  get unsynced(): Inspection["unsynced"] {
    return this.#inspection.unsynced;
  }

  get state(): "connected" | "connecting" | "disconnected" {
    const { connection } = this.#inspection;
    if (connection.requests.isConnected) return "connected";
    return connection.state === "idle" || connection.state === "closed" ? "disconnected" : "connecting";
  }

  /** Sends a request as the client does; its answer is `data`. */
  request(type: string, data: object): Promise<Data> {
    return this.#inspection.connection.requests.send(type, data, { read: (answer) => answer });
  }

  get isFree(): boolean {
    return this.#unsent.length === 0;
  }

  add(document: OpenDocument): void {
    this.#documents.set(document.key, document);
    if (this.state === "connected") this.#await(document);
  }

  remove(document: OpenDocument): void {
    this.#documents.delete(document.key);
    this.synchronized(document);
  }

  #await(document: OpenDocument): void {
    this.#waiting.add(document);
    this.#next();
  }

  /** The document is synchronized, or can no longer be. */
  synchronized(document: OpenDocument): void {
    this.#waiting.delete(document);
    if (this.#turn === document) this.#endTurn();
  }

  #endTurn(): void {
    this.#cancelTurn();
    this.#turn = null;
    this.#next();
  }

  #next(): void {
    const [next] = this.#waiting;
    if (this.#turn !== null || next === undefined) return;
    this.#waiting.delete(next);
    this.#turn = next;
    this.#cancelTurn = this.runtime.after(TURN_MS, () => {
      this.#waiting.add(next);
      this.#endTurn();
    });
    next.synchronize();
  }

  #connected(): void {
    const { requests, webSocket } = this.#inspection.connection;
    if (webSocket === null) return;
    const { signal } = requests;
    webSocket.binaryType = "arraybuffer";
    const receive = ({ data }: MessageEvent) => {
      if (!signal.aborted && data instanceof ArrayBuffer) this.#receive(new Uint8Array(data));
    };
    webSocket.addEventListener("message", receive);
    signal.addEventListener("abort", () => this.#lost(), { once: true });
    this.#bucket = new TokenBucket(SEND_RATE, this.runtime.now());
    for (const document of this.#documents.values()) this.#await(document);
    this.emit("changed", undefined);
  }

  #lost(): void {
    this.#cancelTimer();
    this.#unsent = [];
    this.#waiting.clear();
    this.#cancelTurn();
    this.#turn = null;
    for (const document of [...this.#documents.values()]) document.lost();
    this.emit("changed", undefined);
  }

  #receive(frame: Uint8Array): void {
    const read = readFrame(frame);
    if (read !== null) this.#documents.get(read.key)?.receive(read.message);
  }

  send(frame: Uint8Array<ArrayBuffer>): void {
    if (this.state !== "connected") return;
    this.#unsent.push(frame);
    if (this.#unsent.length === 1) this.#flush();
  }

  #flush(): void {
    const { webSocket } = this.#inspection.connection;
    for (let [frame] = this.#unsent; frame !== undefined; [frame] = this.#unsent) {
      const tokens = 1 + Math.floor(frame.length / FRAME_BYTES);
      const now = this.runtime.now();
      if (this.#bucket.left(now) < tokens) break;
      this.#bucket.spend(tokens, now);
      if (webSocket !== null && webSocket.readyState === webSocket.OPEN) webSocket.send(frame);
      this.#unsent.shift();
    }
    if (this.#unsent.length > 0) {
      this.#cancelTimer = this.runtime.after(RATE_DELAY_MS, () => this.#resume());
    }
  }

  #resume(): void {
    this.#flush();
    if (this.isFree) for (const document of [...this.#documents.values()]) document.drained();
  }
}
