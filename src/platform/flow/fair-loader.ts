/** Loads by key what many wait for: those who wait together share a read, and keys take turns. */
import { FairLanes } from "./fair-lanes.ts";

interface FairLoaderOptions<Value> {
  /** Reads the values of several keys at once. */
  read(keys: readonly string[]): Promise<(key: string) => Value>;
  readonly readsAtOnce: number;
  /** How many of those who wait one read is for. */
  readonly waitsPerRead: number;
}

interface Wait<Value> {
  readonly key: string;
  /** False once the value is of no use any more. */
  isWanted(): boolean;
  resolve(value: Value | null): void;
  reject(error: unknown): void;
}

export class FairLoader<Value> {
  readonly #options: FairLoaderOptions<Value>;
  readonly #waits = new FairLanes<Wait<Value>>();
  #runningReads = 0;
  #isHeld = false;

  constructor(options: FairLoaderOptions<Value>) {
    this.#options = options;
  }

  /** The value when it is the key's turn; null when it is not wanted by then. Rejects when its read does. */
  load(key: string, isWanted: () => boolean): Promise<Value | null> {
    return new Promise((resolve, reject) => {
      this.#waits.add(key, { key, isWanted, resolve, reject });
      this.#readNext();
    });
  }

  /** Nothing is read until the returned function is called. */
  hold(): () => void {
    this.#isHeld = true;
    return () => {
      this.#isHeld = false;
      this.#readNext();
    };
  }

  #readNext(): void {
    while (!this.#isHeld && this.#runningReads < this.#options.readsAtOnce) {
      const waits = this.#takeWanted();
      if (waits.length === 0) return;
      this.#runningReads += 1;
      void this.#read(waits).finally(() => {
        this.#runningReads -= 1;
        this.#readNext();
      });
    }
  }

  #takeWanted(): Wait<Value>[] {
    const waits: Wait<Value>[] = [];
    while (waits.length < this.#options.waitsPerRead) {
      const wait = this.#waits.take();
      if (wait === undefined) break;
      if (wait.isWanted()) waits.push(wait);
      else wait.resolve(null);
    }
    return waits;
  }

  async #read(waits: readonly Wait<Value>[]): Promise<void> {
    try {
      const find = await this.#options.read([...new Set(waits.map(({ key }) => key))]);
      for (const { key, resolve } of waits) resolve(find(key));
    } catch (error) {
      for (const { reject } of waits) reject(error);
    }
  }
}
