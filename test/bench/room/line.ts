/** A member's raw WebSocket: what it costs to read is what the generator costs, so it looks at nothing by itself. */
import { type RawData, WebSocket } from "ws";
import { CommandError } from "../../../src/cli/process/command.ts";

const ANSWER_LIMIT_MS = 20_000;
/** Members who connect side by side: more would only wait for each other. */
const CONNECTING_AT_ONCE = 25;

export type Frame = string | Uint8Array;

/** One member's side of a server's protocol. */
export interface Voice {
  /** Where its socket is. */
  readonly url: string;
  /** Says what a member must say before it is in, and waits for the answers. */
  enter(line: Line): Promise<void>;
  /** What must be said at once to this frame; null for nothing. */
  heed?(frame: Buffer): Frame | null;
  /** A message that all others are to get. */
  say(text: string): Frame;
  /** A cursor's latest state, which all others are to get unless a later one overtakes it. */
  show(text: string): Frame;
}

export class Line {
  readonly voice: Voice;
  readonly #socket: WebSocket;
  /** What came since the last {@link resetCounts}. */
  frames = 0;
  bytes = 0;
  #onFrame: (frame: Buffer) => void = ignore;
  /** How the server ended it; null while it has not. */
  #ending: string | null = null;
  #onEnd: (error: Error) => void = ignore;

  private constructor(voice: Voice) {
    this.voice = voice;
    this.#socket = new WebSocket(voice.url, { perMessageDeflate: false, skipUTF8Validation: true });
    this.#socket.on("message", (data) => this.#receive(data));
    this.#socket.on("error", (error) => this.#end(error.message));
    this.#socket.on("close", (code, reason) => this.#end(`${code} ${reason}`));
  }

  /** Connects and comes in. */
  static async open(voice: Voice): Promise<Line> {
    const line = new Line(voice);
    await line.#answered((resolve) => line.#socket.once("open", resolve));
    await voice.enter(line);
    return line;
  }

  static async openAll(voices: readonly Voice[], stop: AbortSignal): Promise<Line[]> {
    const lines: Line[] = [];
    for (let first = 0; first < voices.length; first += CONNECTING_AT_ONCE) {
      stop.throwIfAborted();
      lines.push(...(await Promise.all(voices.slice(first, first + CONNECTING_AT_ONCE).map(Line.open))));
    }
    return lines;
  }

  #receive(data: RawData): void {
    const frame = bufferOf(data);
    this.frames += 1;
    this.bytes += frame.byteLength;
    const reply = this.voice.heed?.(frame) ?? null;
    if (reply !== null) this.send(reply);
    this.#onFrame(frame);
  }

  #end(how: string): void {
    this.#ending ??= how;
    this.#onEnd(new CommandError(`${this.voice.url} ended a connection: ${this.#ending}`));
  }

  send(frame: Frame): void {
    this.#socket.send(frame);
  }

  listen(onFrame: (frame: Buffer) => void): void {
    this.#onFrame = onFrame;
  }

  /** Sends a frame and waits for the one that answers it. */
  ask(frame: Frame, isAnswer: (frame: Buffer) => boolean): Promise<void> {
    return this.converse(() => this.send(frame), isAnswer);
  }

  /** Begins, and listens until `isLast` says of a frame that it is the last one. */
  async converse(begin: () => void, isLast: (frame: Buffer) => boolean): Promise<void> {
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
        () => this.#onEnd(new CommandError(`${this.voice.url} did not answer`)),
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

  /** Throws if the server has closed it: a server that refuses is fast. */
  mustBeOpen(): void {
    if (this.#ending !== null)
      throw new CommandError(`${this.voice.url} ended a connection: ${this.#ending}`);
  }

  /** At once: what a drowning server still has to say is of no interest. */
  drop(): void {
    this.#socket.terminate();
  }
}

function ignore(): void {}

function bufferOf(data: RawData): Buffer {
  if (Array.isArray(data) || data instanceof ArrayBuffer)
    throw new Error("A ws client that asks for nothing else gets Buffers");
  return data;
}
