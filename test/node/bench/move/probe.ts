/** Reads and changes a room over REST all the time, and notes when that is refused. */
import { AtriumError, AtriumServer, type AtriumServerOptions } from "atrium/server";

const EVERY_MS = 100;

export class Probe {
  readonly #atrium: AtriumServer;
  readonly #roomId: string;
  #isRunning = false;
  #running: Promise<unknown> = Promise.resolve();
  reads = 0;
  failedReads = 0;
  /** Time from the first refused change to the first accepted one. */
  refusedMs = 0;

  constructor(options: AtriumServerOptions, roomId: string) {
    this.#atrium = new AtriumServer({ ...options, maxRetries: 0 });
    this.#roomId = roomId;
  }

  start(): void {
    this.#isRunning = true;
    this.#running = Promise.all([this.#repeat(() => this.#read()), this.#repeat(() => this.#change())]);
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    await this.#running;
  }

  async #repeat(ask: () => Promise<void>): Promise<void> {
    while (this.#isRunning) {
      await ask();
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }

  async #read(): Promise<void> {
    this.reads += 1;
    await this.#atrium.rooms.get(this.#roomId).catch(() => {
      this.failedReads += 1;
    });
  }

  #refusedSince: number | null = null;

  async #change(): Promise<void> {
    const name = `The room at ${Date.now()}`;
    const isRefused = await this.#atrium.rooms.update(this.#roomId, { name }).then(
      () => false,
      (error: unknown) => {
        if (error instanceof AtriumError && error.code === "RATE_LIMITED") return true;
        throw error;
      },
    );
    if (isRefused) this.#refusedSince ??= Date.now();
    else if (this.#refusedSince !== null) {
      this.refusedMs += Date.now() - this.#refusedSince;
      this.#refusedSince = null;
    }
  }
}
