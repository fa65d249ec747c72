/** Users who write into a store of their room, each write after the one before is acknowledged. */
import { AtriumClient } from "atrium/client";
import type { AtriumServer } from "atrium/server";

const STORE = "counts";

/** A user with an entry of their own, which counts. */
interface Writer {
  readonly client: AtriumClient;
  readonly key: string;
  count: number;
}

export class Writers {
  readonly #writers: readonly Writer[];
  #isWriting = false;
  #writing: Promise<unknown> = Promise.resolve();
  #times: number[] = [];

  private constructor(writers: readonly Writer[]) {
    this.#writers = writers;
  }

  static async join(serverUrl: string, tokens: readonly string[]): Promise<Writers> {
    const writers = tokens.map((authToken, index) => ({
      client: new AtriumClient({ serverUrl, authToken }),
      key: `writer ${index}`,
      count: 0,
    }));
    await Promise.all(writers.map(({ client }) => client.join()));
    return new Writers(writers);
  }

  start(): void {
    this.#isWriting = true;
    this.#writing = Promise.all(this.#writers.map((writer) => this.#write(writer)));
  }

  async #write(writer: Writer): Promise<void> {
    while (this.#isWriting) {
      const begin = performance.now();
      await writer.client.store(STORE).set(writer.key, writer.count + 1);
      writer.count += 1;
      this.#times.push(performance.now() - begin);
    }
  }

  async writeFor(ms: number): Promise<void> {
    this.start();
    await new Promise((resolve) => setTimeout(resolve, ms));
    await this.#end();
  }

  async #end(): Promise<void> {
    this.#isWriting = false;
    await this.#writing;
  }

  /** Times of the writes since the last call, in milliseconds. */
  takeTimes(): number[] {
    const times = this.#times;
    this.#times = [];
    return times;
  }

  async stop(): Promise<number[]> {
    await this.#end();
    return this.takeTimes();
  }

  /** Number of writers whose entry is not the last acknowledged one. */
  async countLost(atrium: AtriumServer, roomId: string): Promise<number> {
    const { entries } = await atrium.stores.getAll(roomId, STORE);
    return this.#writers.filter(({ key, count }) => entries[key]?.value !== count).length;
  }

  leave(): void {
    for (const { client } of this.#writers) client.disconnect();
  }
}
