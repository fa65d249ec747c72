/** The two storages of a room, each of which a property of documents must hold for. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { RoomStorage } from "../../../src/room/storage/storage.ts";
import { SqliteStorage } from "../../../src/room/storage/storage-sqlite.ts";
import { MemoryStorage } from "../memory-storage/storage-memory.ts";

/** Works with a storage; each call of the function opens the same one anew. */
export type Driver = (work: (storage: () => RoomStorage) => void) => Promise<void>;

export const inMemory: Driver = async (work) => {
  const storage = new MemoryStorage();
  work(() => storage);
};

export const inSqlite: Driver = (work) =>
  runInDurableObject(env.ROOMS.getByName(crypto.randomUUID()), (_, state) =>
    work(() => new SqliteStorage(state.storage)),
  );
