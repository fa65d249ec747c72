/** A WebSocket in memory: frames of either side wait until the test delivers them. */

export class ModelSocket extends EventTarget {
  readonly userId: string;
  readonly #receive: (frame: string) => void;
  /** Frames on their way to the room, and messages on their way to the client. */
  readonly #up: string[] = [];
  readonly #down: string[] = [];
  isOpen = true;
  hasJoined = false;
  /** The room has begun to close it, and the client has not heard of the end. */
  isClosing = false;

  constructor(userId: string, receive: (frame: string) => void) {
    super();
    this.userId = userId;
    this.#receive = receive;
    queueMicrotask(() => this.dispatchEvent(new Event("open")));
  }

  get readyState(): number {
    return this.isClosing ? WebSocket.CLOSING : WebSocket.OPEN;
  }

  /** Same as the client's WebSocket. */
  send(frame: string): void {
    if (this.isClosing) throw new Error("WebSocket is already in CLOSING or CLOSED state");
    if (this.isOpen) this.#up.push(frame);
  }

  /** Same as the client's WebSocket, which sends its buffer before it closes. */
  close(): void {
    while (this.deliverUp());
    this.isOpen = false;
    this.hasJoined = false;
  }

  /** Answers a ping. */
  pong(): void {
    this.#down.push("pong");
  }

  /** The room ends the connection, once its earlier frames have arrived. */
  end(code: number, reason = ""): void {
    while (this.deliverDown());
    if (!this.isOpen) return;
    this.isOpen = false;
    this.hasJoined = false;
    this.dispatchEvent(Object.assign(new Event("close"), { code, reason }));
  }

  /** Sends a message to the client. */
  push(message: object): void {
    this.#down.push(JSON.stringify(message));
  }

  get isIdle(): boolean {
    return this.#up.length + this.#down.length === 0;
  }

  /** Delivers the next frame to the room. False if there is none. */
  deliverUp(): boolean {
    const frame = this.isOpen ? this.#up.shift() : undefined;
    if (frame !== undefined) this.#receive(frame);
    return frame !== undefined;
  }

  /** Delivers the next message to the client. False if there is none. */
  deliverDown(): boolean {
    const data = this.isOpen ? this.#down.shift() : undefined;
    if (data !== undefined) this.dispatchEvent(new MessageEvent("message", { data }));
    return data !== undefined;
  }

  /** Loses the next change on its way to the client, as no real connection does; not one within an answer to a join. */
  loseChange(): void {
    const index = this.#down.findIndex((message) => /^{"type":"event".*"storeChanged"/.test(message));
    if (index >= 0) this.#down.splice(index, 1);
  }

  /** Breaks the connection: frames on their way are lost. */
  cut(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.hasJoined = false;
    this.dispatchEvent(Object.assign(new Event("close"), { code: 1006, reason: "cut" }));
  }
}
