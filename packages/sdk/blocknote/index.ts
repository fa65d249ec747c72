/** `atrium/blocknote`: comments of BlockNote as threads of the room. */
import { commentCacheOf } from "../react/room-comments.ts";
import type { AnyClient } from "../react/shared-connection.ts";
import { AtriumThreadStore, type ThreadStoreOptions } from "./thread-store.ts";

export type { AtriumThreadStore, ThreadStoreOptions } from "./thread-store.ts";

/**
 * Opens the threads of one document for BlockNote's `CommentsExtension`; `name` tells the documents of a room apart.
 * Resolves when the room's comments are loaded, so join the room. Rejects with the error that prevents that.
 */
export async function openThreadStore(
  client: AnyClient,
  name: string,
  options: ThreadStoreOptions = {},
): Promise<AtriumThreadStore> {
  const { source, loaded } = commentCacheOf(client).comments();
  const store = new AtriumThreadStore(client, source, name, options);
  try {
    await loaded.wait();
  } catch (error) {
    store.destroy();
    throw error;
  }
  return store;
}
