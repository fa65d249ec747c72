/** The client's end of a socket for tests: sends messages, and waits for answers and events. */
import type {
  JoinedRoom,
  Response,
  ServerEvent,
  ServerMessage,
} from "../../../src/room/protocol/protocol.ts";

type JoinResponse =
  | Extract<Response, { success: false }>
  | (Extract<Response, { success: true }> & { data: JoinedRoom });

/** A response whose data a test inspects. */
export type CallResponse = Omit<Response, "data" | "error"> & {
  readonly data: Record<string, unknown>;
  readonly error: { readonly code: string } | null;
};

export class TestSocket {
  readonly #socket: WebSocket;
  readonly #inbox: string[] = [];
  #wake: () => void = () => undefined;
  readonly events: ServerEvent[] = [];
  /** Resolves when the socket closes. */
  readonly closed: Promise<{ code: number; reason: string }>;
  #isClosed = false;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => {
      socket.addEventListener("close", ({ code, reason }) => {
        this.#isClosed = true;
        this.#wake();
        resolve({ code, reason });
      });
    });
    socket.addEventListener("message", ({ data }) => {
      this.#inbox.push(String(data));
      this.#wake();
    });
    socket.accept();
  }

  /** The next frame as text. Throws if the socket closes first. */
  async nextText(): Promise<string> {
    for (;;) {
      const text = this.#inbox.shift();
      if (text !== undefined) return text;
      if (this.#isClosed) throw new Error("The socket closed before it received another frame");
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async next(): Promise<ServerMessage> {
    return JSON.parse(await this.nextText()) as ServerMessage;
  }

  async nextEvent(): Promise<ServerEvent> {
    const message = await this.next();
    if (message.type !== "event") throw new Error(`Expected an event, received ${JSON.stringify(message)}`);
    return message;
  }

  async nextResponse(): Promise<JoinResponse> {
    const message = await this.next();
    if (message.type !== "response")
      throw new Error(`Expected a response, received ${JSON.stringify(message)}`);
    return message as JoinResponse;
  }

  /** Sends a message and waits for the next frame, which must be a response. */
  request(type: string, data?: object, requestId?: unknown): Promise<JoinResponse> {
    this.send({ type, data, requestId });
    return this.nextResponse();
  }

  /** Like {@link request}, but events may arrive first: they are added to `events`. */
  async call(type: string, data?: object, requestId: string = crypto.randomUUID()): Promise<CallResponse> {
    this.send({ type, data, requestId });
    for (;;) {
      const message = await this.next();
      if (message.type === "event") this.events.push(message);
      else if (message.requestId === requestId) return message as CallResponse;
      else throw new Error(`Expected the response to ${requestId}, received ${JSON.stringify(message)}`);
    }
  }

  /** The events received so far that no other call has returned. */
  async takeEvents(): Promise<ServerEvent[]> {
    const drained = await this.drain();
    const events = [...this.events, ...drained.filter((message) => message.type === "event")];
    this.events.length = 0;
    return events;
  }

  send(message: unknown): void {
    this.#socket.send(JSON.stringify(message));
  }

  sendRaw(frame: string | ArrayBuffer): void {
    this.#socket.send(frame);
  }

  /** Everything received that no other call has returned. The pong arrives last, so nothing is in flight. */
  async drain(): Promise<ServerMessage[]> {
    this.#socket.send("ping");
    const messages: ServerMessage[] = [];
    for (;;) {
      const text = await this.nextText();
      if (text === "pong") return messages;
      messages.push(JSON.parse(text) as ServerMessage);
    }
  }

  close(code = 1000, reason = "bye"): void {
    this.#socket.close(code, reason);
  }
}
