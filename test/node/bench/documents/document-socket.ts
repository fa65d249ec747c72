/** A raw client of one document, over y-websocket's protocol or Hocuspocus': its cost is that of the load generator. */
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { type RawData, WebSocket } from "ws";
import * as Y from "yjs";
import { CommandError } from "../../../../src/cli/process/command.ts";

const LIMIT_MS = 60_000;
const SYNC = 0;
const AUTH = 2;
const STATUS = 8;
const [STEP_1, STEP_2, UPDATE] = [0, 1, 2];

/** How a client reaches a document. */
export interface DocumentAddress {
  readonly url: string;
  /** The document's name and the token, on servers whose frames have them; null where the address does. */
  readonly named: { readonly name: string; readonly token: string } | null;
}

export class DocumentSocket {
  /** Called with each frame after its name. */
  onFrame: (frame: Buffer) => void = () => {};
  readonly #socket: WebSocket;
  readonly #named: DocumentAddress["named"];
  readonly #prefix: number;
  #fail: (error: Error) => void = () => {};
  /** Received so far. */
  bytes = 0;

  private constructor({ url, named }: DocumentAddress) {
    this.#named = named;
    this.#prefix =
      named === null ? 0 : encoding.encode((encoder) => encoding.writeVarString(encoder, named.name)).length;
    this.#socket = new WebSocket(url, { perMessageDeflate: false });
    this.#socket.on("message", (data) => this.#receive(data));
    this.#socket.on("close", (code, reason) =>
      this.#fail(new CommandError(`A socket closed: ${code} ${reason}`)),
    );
    this.#socket.on("error", (error) => this.#fail(error));
  }

  /** Connects, and receives the whole document. */
  static async open(address: DocumentAddress): Promise<DocumentSocket> {
    const client = new DocumentSocket(address);
    await client.waitFor((done) => client.#socket.once("open", () => done()));
    const { token } = address.named ?? {};
    if (token !== undefined)
      client.#send(AUTH, (encoder) => {
        encoding.writeVarUint(encoder, 0);
        encoding.writeVarString(encoder, token);
      });
    const isSynced = client.waitFor((done) => {
      client.onFrame = (frame) => {
        if (frame[0] !== SYNC) return;
        // The answer shows that earlier frames were read: large documents come in parts.
        if (frame[1] === STEP_1) client.#sendSync(STEP_2, new Uint8Array([0, 0]));
        else if (frame[1] === STEP_2) done();
      };
    });
    client.#sendSync(STEP_1, new Uint8Array([0]));
    await isSynced;
    client.onFrame = () => {};
    return client;
  }

  #receive(data: RawData): void {
    const frame = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
    this.bytes += frame.length;
    this.onFrame(frame.subarray(this.#prefix));
  }

  #sendSync(type: number, data: Uint8Array): void {
    this.#send(SYNC, (encoder) => {
      encoding.writeVarUint(encoder, type);
      encoding.writeVarUint8Array(encoder, data);
    });
  }

  #send(type: number, write: (encoder: encoding.Encoder) => void): void {
    const named = this.#named;
    const frame = encoding.encode((encoder) => {
      if (named !== null) encoding.writeVarString(encoder, named.name);
      encoding.writeVarUint(encoder, type);
      write(encoder);
    });
    this.#socket.send(frame);
  }

  sendUpdate(update: Uint8Array): void {
    this.#sendSync(UPDATE, update);
  }

  /** Resolves when `begin` has it; rejects when the socket closes, or that takes too long. */
  waitFor(begin: (done: () => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new CommandError("A server did not answer in time")), LIMIT_MS);
      const settle = (action: () => void) => () => {
        clearTimeout(timer);
        this.#fail = () => {};
        action();
      };
      this.#fail = (error) => settle(() => reject(error))();
      begin(settle(resolve));
    });
  }

  close(): void {
    this.#fail = () => {};
    this.#socket.terminate();
  }
}

/** Whether a frame is the status of an update that was applied. */
export const isApplied = (frame: Buffer): boolean => frame[0] === STATUS && frame[1] === 1;

/** The update in a frame; null for any other frame. */
export function updateIn(frame: Buffer): Uint8Array | null {
  if (frame[0] !== SYNC || frame[1] !== UPDATE) return null;
  return decoding.readVarUint8Array(decoding.createDecoder(frame.subarray(2)));
}

/** A person who types: each key is an update. */
export class Typist {
  readonly #doc = new Y.Doc();
  #update: Uint8Array = new Uint8Array();

  constructor() {
    this.#doc.on("update", (update: Uint8Array) => {
      this.#update = update;
    });
  }

  /** The update of one more key, or of any other text. */
  type(text: string): Uint8Array {
    const content = this.#doc.getText("text");
    content.insert(content.length, text);
    return this.#update;
  }
}
