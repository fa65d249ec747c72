/** A line between clients and the service with a limited rate in bytes a second, each way, and a delay. */
import { createServer, connect as dial, type Server, type Socket } from "node:net";

export interface Line {
  readonly bytesPerSecond: number;
  /** One way. */
  readonly delayMs: number;
}

/** Bytes further ahead of the line than this wait at their sender, as behind a full buffer. */
const BUFFER_MS = 20;

export class SlowLine {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(port: number, line: Line) {
    this.#server = createServer((client) => {
      const service = dial(port, "127.0.0.1");
      for (const socket of [client, service]) {
        this.#sockets.add(socket.setNoDelay());
        socket.on("error", () => this.close());
      }
      carry(client, service, line);
      carry(service, client, line);
    });
  }

  static async to(origin: string, line: Line): Promise<SlowLine> {
    const slowLine = new SlowLine(Number(new URL(origin).port), line);
    await new Promise<void>((resolve) => slowLine.#server.listen(0, "127.0.0.1", resolve));
    return slowLine;
  }

  get origin(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("The line is closed");
    return `http://127.0.0.1:${address.port}`;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

function carry(from: Socket, to: Socket, { bytesPerSecond, delayMs }: Line): void {
  let freeAt = 0;
  from.on("data", (bytes: Buffer) => {
    const now = performance.now();
    freeAt = Math.max(freeAt, now) + (bytes.length * 1000) / bytesPerSecond;
    setTimeout(() => to.write(bytes), freeAt - now + delayMs);
    if (freeAt - now <= BUFFER_MS) return;
    from.pause();
    setTimeout(() => from.resume(), freeAt - now - BUFFER_MS);
  });
  from.on("end", () => to.end());
}
