/** The SQLite database of a subscriber's object: there is nothing in it until the first write, and then whose it is. */

import type { SubscriberKey } from "../subscriber-port.ts";
import { TABLES } from "./delivery-table.ts";

type Row = Record<string, SqlStorageValue>;

export class SubscriberStorage {
  readonly #storage: DurableObjectStorage;
  #exists: boolean;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    const query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'deliveries'";
    this.#exists = storage.sql.exec(query).toArray().length > 0;
  }

  /** The rows one by one; none while there are no tables. */
  *iterate<T extends Row>(query: string, ...params: SqlStorageValue[]): Iterable<T> {
    if (this.#exists) yield* this.#storage.sql.exec<T>(query, ...params);
  }

  read<T extends Row>(query: string, ...params: SqlStorageValue[]): T[] {
    return [...this.iterate<T>(query, ...params)];
  }

  /** Changes rows; nothing happens while there are no tables. */
  write(query: string, ...params: SqlStorageValue[]): void {
    if (this.#exists) this.#storage.sql.exec(query, ...params);
  }

  /** Does `work` whole or not at all. */
  transaction<T>(work: () => T): T {
    const existed = this.#exists;
    try {
      return this.#storage.transactionSync(work);
    } catch (error) {
      this.#exists = existed; // tables are rolled back like rows
      throw error;
    }
  }

  /** Settles when all that was written is on disk. */
  sync(): Promise<void> {
    return this.#storage.sync();
  }

  /** Makes the tables, and notes whose they are: an alarm has nobody to ask. */
  open({ kind, accountId, id }: SubscriberKey): void {
    if (this.#exists) return;
    this.#storage.sql.exec(TABLES);
    this.#exists = true;
    this.write("INSERT INTO subscriber VALUES (1, ?, ?, ?, '{}')", kind, accountId, id);
  }

  /** Whose this is; null before the first write. */
  readKey(): SubscriberKey | null {
    const query = "SELECT kind, account_id, id FROM subscriber";
    const [row] = this.read<{ kind: string; account_id: string; id: string }>(query);
    return row === undefined ? null : { kind: parseKind(row.kind), accountId: row.account_id, id: row.id };
  }

  /** What the handler has noted, as JSON. */
  readMemory(): string {
    return this.read<{ memory: string }>("SELECT memory FROM subscriber")[0]?.memory ?? "{}";
  }

  writeMemory(memory: string): void {
    this.write("UPDATE subscriber SET memory = ?", memory);
  }

  /** Removes everything, the alarm included. */
  async clear(): Promise<void> {
    this.#exists = false;
    await this.#storage.deleteAll();
  }
}

/** As {@link SubscriberStorage.open} wrote it. */
const parseKind = (kind: string): SubscriberKey["kind"] => kind as SubscriberKey["kind"];
