/** A client of a document over a test's socket: y-protocols, as y-websocket and Hocuspocus' provider speak them. */
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { Awareness, applyAwarenessUpdate, encodeAwarenessUpdate } from "y-protocols/awareness";
import { readSyncMessage, writeSyncStep1, writeUpdate } from "y-protocols/sync";
import * as Y from "yjs";
import type { DocumentWire } from "../../../src/room/transport/connection.ts";
import { gateway, type TestRoom, type TestUser } from "../support/rooms.ts";

interface Options {
  readonly wire?: DocumentWire["wire"];
  readonly name?: string;
  /** Sent instead of the user's. */
  readonly token?: string;
  /** Typed while the client does not have its token yet. */
  readonly typedBefore?: string;
}

export class DocumentClient {
  readonly doc = new Y.Doc();
  readonly awareness = new Awareness(this.doc);
  /** JSON messages on the room's own socket, beside documents. */
  readonly messages: string[] = [];
  /** Frames that are neither sync nor awareness: the type, and its number or text. */
  readonly notes: (readonly [type: number, value: string | number])[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  frames = 0;
  /** Called with each binary frame, before it is handled. */
  onFrame: (bytes: Uint8Array) => void = () => undefined;
  isSynced = false;
  /** Frames that the client has not read, while it reads none. */
  #unread: Uint8Array[] | null = null;
  readonly #socket: WebSocket;
  readonly #key: string | null;
  #closeEvent: { code: number; reason: string } | null = null;
  #wake: () => void = () => undefined;

  private constructor(socket: WebSocket, key: string | null) {
    this.#socket = socket;
    this.#key = key;
    clearInterval(Reflect.get(this.awareness, "_checkInterval") as number);
    this.closed = new Promise((resolve) => {
      socket.addEventListener("close", ({ code, reason }) => {
        this.#closeEvent = { code, reason };
        this.#wake();
        resolve({ code, reason });
      });
    });
    socket.addEventListener("message", ({ data }) => {
      if (data instanceof ArrayBuffer)
        this.#unread?.push(new Uint8Array(data)) ?? this.#receive(new Uint8Array(data));
      else this.messages.push(String(data));
      this.frames += 1;
      this.#wake();
    });
    this.doc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin !== this) this.sendFrame(0, (encoder) => writeUpdate(encoder, update));
    });
    socket.binaryType = "arraybuffer";
    socket.accept();
  }

  /** A client over a socket whose address names the document, or, with a token, whose frames name it. */
  static over(socket: WebSocket, name: string | null = null, token?: string): DocumentClient {
    const client = new DocumentClient(socket, name);
    if (token !== undefined) client.authenticate(token);
    client.sync();
    return client;
  }

  /** Opens a socket for the user, and begins to synchronize as the providers do. */
  static async open(
    room: Pick<TestRoom, "id" | "accountId" | "inside">,
    user: Pick<TestUser, "token">,
    options: Options = {},
  ): Promise<DocumentClient> {
    const { wire = "yWebsocket", name = "notes", token = user.token, typedBefore = "" } = options;
    await room.inside(() => undefined);
    const upgrade = new Request("https://atrium.test/sync", { headers: { Upgrade: "websocket" } });
    const isNamed = wire !== "yWebsocket";
    const address =
      wire === "room"
        ? undefined
        : { wire, name: isNamed ? null : name, token: isNamed ? "" : token, protocol: null };
    const { webSocket } = await gateway.connect(room.id, room.accountId, upgrade, address);
    if (webSocket === null) throw new Error("The upgrade returned no socket");
    const client = new DocumentClient(webSocket, isNamed ? name : null);
    if (typedBefore !== "") client.type(typedBefore);
    if (wire === "hocuspocus") client.authenticate(token);
    if (wire === "room") await client.#join(token);
    client.sync();
    return client;
  }

  /** Joins the room, whose socket it is. A refusal closes the socket. */
  async #join(token: string): Promise<void> {
    this.sendBytes(JSON.stringify({ type: "JOIN_ROOM", data: { token, batch: true } }));
    while (this.messages.length === 0)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  /** Another document over the same socket would need another receiver: this only sends. */
  authenticate(token: string, key = this.#key ?? ""): void {
    this.#send(
      encoding.encode((encoder) => {
        encoding.writeVarString(encoder, key);
        encoding.writeVarUint(encoder, 2);
        encoding.writeVarUint(encoder, 0);
        encoding.writeVarString(encoder, token);
        encoding.writeVarString(encoder, "4.8.0");
      }),
    );
  }

  sync(): void {
    this.isSynced = false;
    this.sendFrame(0, (encoder) => writeSyncStep1(encoder, this.doc));
  }

  sendFrame(type: number, write: (encoder: encoding.Encoder) => void): void {
    this.#send(
      encoding.encode((encoder) => {
        if (this.#key !== null) encoding.writeVarString(encoder, this.#key);
        encoding.writeVarUint(encoder, type);
        write(encoder);
      }),
    );
  }

  sendAwareness(state: Record<string, unknown>): void {
    this.awareness.setLocalState(state);
    const update = encodeAwarenessUpdate(this.awareness, [this.doc.clientID]);
    this.sendFrame(1, (encoder) => encoding.writeVarUint8Array(encoder, update));
  }

  /** Says that this client is gone, and stays connected. */
  sendGone(): void {
    const update = encodeAwarenessUpdate(this.awareness, [this.doc.clientID], new Map());
    this.sendFrame(1, (encoder) => encoding.writeVarUint8Array(encoder, update));
  }

  /** Sends all that this client knows, as editors' own clients answer a query. */
  sendAll(): void {
    const update = encodeAwarenessUpdate(this.awareness, [...this.awareness.getStates().keys()]);
    this.sendFrame(1, (encoder) => encoding.writeVarUint8Array(encoder, update));
  }

  sendBytes(bytes: Uint8Array | string): void {
    this.#socket.send(bytes);
  }

  /** Makes frames wait for {@link read} from now on. */
  pause(): void {
    this.#unread ??= [];
  }

  /** Reads the frames that arrived, and continues reading. */
  read(): void {
    const unread = this.#unread ?? [];
    this.#unread = null;
    for (const bytes of unread) this.#receive(bytes);
  }

  #send(bytes: Uint8Array): void {
    if (this.#closeEvent === null) this.#socket.send(bytes);
  }

  #receive(bytes: Uint8Array): void {
    this.onFrame(bytes);
    const decoder = decoding.createDecoder(bytes);
    if (this.#key !== null && decoding.readVarString(decoder) !== this.#key) return;
    const type = decoding.readVarUint(decoder);
    if (type === 0) this.#receiveSync(decoder);
    else if (type === 1) applyAwarenessUpdate(this.awareness, decoding.readVarUint8Array(decoder), this);
    else if (type === 8) {
      this.notes.push([type, decoding.readVarInt(decoder)]);
      if (decoding.hasContent(decoder)) this.notes.push([type, decoding.readVarString(decoder)]);
    } else if (type === 2 || type === 7) {
      if (type === 2) decoding.readVarUint(decoder);
      this.notes.push([type, decoding.readVarString(decoder)]);
    } else this.notes.push([type, 0]);
  }

  #receiveSync(decoder: decoding.Decoder): void {
    const encoder = encoding.createEncoder();
    const kind = readSyncMessage(decoder, encoder, this.doc, this);
    if (encoding.length(encoder) > 0)
      this.sendFrame(0, (outer) => encoding.writeUint8Array(outer, encoding.toUint8Array(encoder)));
    this.isSynced ||= kind === 1;
  }

  get text(): string {
    return this.doc.getText("text").toString();
  }

  type(text: string): void {
    this.doc.getText("text").insert(this.text.length, text);
  }

  /** Waits until something holds. Throws if the socket closes first. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.#closeEvent !== null)
        throw new Error(`The socket closed: ${JSON.stringify(this.#closeEvent)}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async synced(): Promise<this> {
    await this.until(() => this.isSynced);
    return this;
  }

  close(): void {
    this.#socket.close(1000);
  }
}
