/** The room's storage for tests of the room without its object: real tables, inside an object that has stored nothing. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { it } from "vitest";
import { SqliteStorage } from "../../../src/room/storage/storage.ts";

interface Tables {
  readonly storage: SqliteStorage;
  /** Opens the same storage anew, as a room does that starts. */
  reopen(): SqliteStorage;
}

export const withStorage = (work: (tables: Tables) => unknown): Promise<void> =>
  runInDurableObject(env.ROOMS.getByName(crypto.randomUUID()), async (_, { storage }) => {
    await work({ storage: new SqliteStorage(storage), reopen: () => new SqliteStorage(storage) });
  });

/** A test that runs in such an object. */
export const test = (title: string, work: (tables: Tables) => unknown, timeoutMs?: number): void =>
  it(title, () => withStorage(work), timeoutMs);

/** Puts what the journal has in its places. An erasure needs that; no one is erased here. */
export const fold = (storage: SqliteStorage): void => storage.receipts.deleteUser("no one");
