/** A network between clients and the service that a test can break: cut it, stall it, delay it, at any byte. */
import { createServer, connect as dial, type Server, type Socket } from "node:net";

/** `up` is towards the service. */
export type Direction = "up" | "down";

/** One connection through the proxy: two sockets, and what becomes of the bytes between them. */
class Line {
  readonly #sockets: Readonly<Record<Direction, Socket>>;
  /** Bytes that still get through, after which the line is cut; null without such a bound. */
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
        // Equal delays keep their order; without one, nothing overtakes either.
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
  /** Of each piece that passes, in both directions. */
  delayMs = 0;

  private constructor(servicePort: number) {
    this.#server = createServer((client) => {
      if (!this.#isOpen) {
        client.destroy();
        return;
      }
      this.#accepted += 1;
      const service = dial(servicePort, "localhost");
      const line = new Line(client.setNoDelay(), service.setNoDelay(), () => this.delayMs);
      this.#lines.add(line);
      client.once("close", () => this.#lines.delete(line));
    });
  }

  static async before(service: { readonly port: number }): Promise<BreakableProxy> {
    const proxy = new BreakableProxy(service.port);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "localhost", resolve));
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("The proxy is closed");
    return `http://localhost:${address.port}`;
  }

  /** Connections that were let through so far. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Breaks all connections now. */
  cut(): void {
    for (const line of this.#lines) line.cut();
  }

  /** Breaks the present connections once so many further bytes have passed in one direction. */
  cutAfter(direction: Direction, bytes: number): void {
    for (const line of this.#lines) line.cutAfter(direction, bytes);
  }

  /** Lets nothing more through in one direction of the present connections, which stay open. */
  stall(direction: Direction): void {
    for (const line of this.#lines) line.stall(direction);
  }

  /** Breaks all connections, and refuses new ones until {@link open}. */
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
