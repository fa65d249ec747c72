/** A proxy between clients and the service with which a test cuts, stalls or delays connections, at any byte. */
import { createServer, connect as dial, type Server, type Socket } from "node:net";

/** `up` is from the client to the service. */
export type Direction = "up" | "down";

/** One connection through the proxy: a socket to each side, and the bytes between them. */
class Line {
  readonly #sockets: Readonly<Record<Direction, Socket>>;
  /** How many more bytes pass before the connection is cut; null for no limit. */
  readonly #left: Record<Direction, number | null> = { up: null, down: null };

  constructor(client: Socket, service: Socket, delayMs: () => number) {
    this.#sockets = { up: client, down: service };
    const pass = (direction: Direction, from: Socket, to: Socket) => {
      from.on("data", (bytes: Buffer) => {
        const passed = this.#count(direction, bytes);
        const send = () => {
          if (passed.length > 0) to.write(passed);
          if (this.#left[direction] === 0) this.cut();
        };
        // Equal delays keep the order of the bytes, and so does no delay.
        if (delayMs() > 0) setTimeout(send, delayMs());
        else send();
      });
      from.on("end", () => to.end());
      from.on("error", () => this.cut());
    };
    pass("up", client, service);
    pass("down", service, client);
  }

  #count(direction: Direction, bytes: Buffer): Buffer {
    const left = this.#left[direction];
    if (left === null) return bytes;
    this.#left[direction] = Math.max(0, left - bytes.length);
    return bytes.subarray(0, left);
  }

  cutAfter(direction: Direction, bytes: number): void {
    this.#left[direction] = bytes;
  }

  stall(direction: Direction): void {
    this.#sockets[direction].pause();
  }

  cut(): void {
    for (const socket of Object.values(this.#sockets)) socket.destroy();
  }
}

export class BreakableProxy {
  readonly #server: Server;
  readonly #lines = new Set<Line>();
  #isOpen = true;
  #accepted = 0;
  #refused = 0;
  /** The delay of each chunk, in both directions. */
  delayMs = 0;

  private constructor(service: { readonly port: number }) {
    this.#server = createServer((client) => {
      if (!this.#isOpen) {
        this.#refused += 1;
        client.destroy();
        return;
      }
      this.#accepted += 1;
      const dialed = dial(service.port, "localhost");
      const line = new Line(client.setNoDelay(), dialed.setNoDelay(), () => this.delayMs);
      this.#lines.add(line);
      client.once("close", () => this.#lines.delete(line));
    });
  }

  /** A service that was started again may have another port. */
  static async before(service: { readonly port: number }): Promise<BreakableProxy> {
    const proxy = new BreakableProxy(service);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "localhost", resolve));
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("The proxy is closed");
    return `http://localhost:${address.port}`;
  }

  /** How many connections were accepted so far. */
  get accepted(): number {
    return this.#accepted;
  }

  /** How many connections were refused while it was shut, so far. */
  get refused(): number {
    return this.#refused;
  }

  /** Cuts all connections now. */
  cut(): void {
    for (const line of this.#lines) line.cut();
  }

  /** Cuts the open connections after this many more bytes in one direction. */
  cutAfter(direction: Direction, bytes: number): void {
    for (const line of this.#lines) line.cutAfter(direction, bytes);
  }

  /** Stops all bytes in one direction of the open connections, which stay open. */
  stall(direction: Direction): void {
    for (const line of this.#lines) line.stall(direction);
  }

  /** Cuts all connections, and refuses new ones until {@link open}. */
  shut(): void {
    this.#isOpen = false;
    this.cut();
  }

  open(): void {
    this.#isOpen = true;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
