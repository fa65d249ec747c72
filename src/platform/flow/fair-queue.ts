/** Fair queues: keys, such as users, take turns, so that one with much waiting work delays no other. Pure. */

export class FairQueue<Item> {
  readonly #items = new Map<string, Item[]>();

  add(key: string, item: Item): void {
    const items = this.#items.get(key);
    if (items === undefined) this.#items.set(key, [item]);
    else items.push(item);
  }

  take(isReady: (item: Item, key: string) => boolean = () => true): Item | undefined {
    for (const [key, items] of this.#items) {
      const [item] = items;
      if (item === undefined || !isReady(item, key)) continue;
      items.shift();
      this.#items.delete(key);
      if (items.length > 0) this.#items.set(key, items); // moves the key to the end: the others come first
      return item;
    }
    return undefined;
  }

  takeAll(matches: (item: Item, key: string) => boolean): Item[] {
    const taken: Item[] = [];
    for (const [key, items] of this.#items) {
      const others = items.filter((item) => !matches(item, key));
      if (others.length === items.length) continue;
      taken.push(...items.filter((item) => matches(item, key)));
      if (others.length === 0) this.#items.delete(key);
      else this.#items.set(key, others);
    }
    return taken;
  }

  takeOf(key: string): readonly Item[] {
    const items = this.itemsOf(key);
    this.#items.delete(key);
    return items;
  }

  itemsOf(key: string): readonly Item[] {
    return this.#items.get(key) ?? [];
  }

  *heads(): Generator<Item> {
    for (const [item] of this.#items.values()) if (item !== undefined) yield item;
  }
}

interface FairLoaderOptions<Value> {
  read(keys: readonly string[]): Promise<(key: string) => Value>;
  /** Waiting callers that one read serves. */
  readonly waitsPerRead: number;
}

interface Wait<Value> {
  readonly key: string;
  isWanted(): boolean;
  resolve(value: Value | null): void;
  reject(error: unknown): void;
}

/** Loads values by key, one read at a time. Callers that wait share the next read, and keys take turns. */
export class FairLoader<Value> {
  readonly #options: FairLoaderOptions<Value>;
  readonly #waits = new FairQueue<Wait<Value>>();
  #isReading = false;
  #isHeld = false;

  constructor(options: FairLoaderOptions<Value>) {
    this.#options = options;
  }

  /** The value when it is the key's turn; null when it is not wanted by then. Rejects when its read does. */
  load(key: string, isWanted: () => boolean): Promise<Value | null> {
    return new Promise((resolve, reject) => {
      this.#waits.add(key, { key, isWanted, resolve, reject });
      void this.#readNext();
    });
  }

  hold(): () => void {
    this.#isHeld = true;
    return () => {
      this.#isHeld = false;
      void this.#readNext();
    };
  }

  async #readNext(): Promise<void> {
    if (this.#isHeld || this.#isReading) return;
    const waits = this.#takeWanted();
    if (waits.length === 0) return;
    this.#isReading = true;
    await this.#read(waits);
    this.#isReading = false;
    void this.#readNext();
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
