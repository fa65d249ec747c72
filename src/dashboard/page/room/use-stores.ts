/** Queries and actions for the stores of a room and their entries. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { AtriumError, type Entry } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";
import { LIVE_REFRESH_MS } from "../live/live-refresh.ts";

export function useStores(roomId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("room", roomId, "stores"),
    queryFn: () => atrium.stores.list(roomId),
    refetchInterval: LIVE_REFRESH_MS,
  });
}

export interface EntryQuery {
  /** What the keys begin with; empty for all. */
  readonly prefix: string;
  /** Only the entries after this key. */
  readonly after?: string;
  readonly limit: number;
}

/** Some entries of a store in the order of their keys: polled, and refreshed on each change while watching live. */
export function useEntries(roomId: string, store: string, { prefix, after, limit }: EntryQuery) {
  const { atrium } = useCurrent();
  const key = useKey();
  const find = useFindEntry(roomId, store);
  return useQuery({
    queryKey: key("room", roomId, "entries", store, { prefix, after, limit }),
    queryFn: async () => {
      // The keys that begin with a text follow it; the text itself may be one.
      const from = after ?? (prefix === "" ? undefined : prefix);
      const [page, exact] = await Promise.all([
        atrium.stores.getPage(roomId, store, { limit, ...(from !== undefined && { after: from }) }),
        prefix !== "" && after === undefined ? find(prefix) : null,
      ]);
      const found = Object.entries(page.entries).filter(([one]) => one.startsWith(prefix));
      const entries = Object.fromEntries(exact === null ? found : [[prefix, exact], ...found]);
      const { next } = page;
      return { entries, ...(next?.startsWith(prefix) && { next }) };
    },
    refetchInterval: LIVE_REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

/** Returns a function that reads an entry as it is now; null when there is none. */
export function useFindEntry(roomId: string, store: string) {
  const { atrium } = useCurrent();
  return async (entry: string): Promise<Entry | null> => {
    try {
      return await atrium.stores.get(roomId, store, entry);
    } catch (error) {
      if (error instanceof AtriumError && error.code === "NOT_FOUND") return null;
      throw error;
    }
  };
}

export interface EntryWrite {
  readonly key: string;
  readonly value: unknown;
  /** The entry's expected version, 0 for none; the write fails when it has changed. */
  readonly ifVersion: number;
}

export function useSetEntry(roomId: string, store: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(
    ({ key: entry, value, ifVersion }: EntryWrite) =>
      atrium.stores.set(roomId, store, entry, value, { ifVersion }),
    { invalidates: [key("room", roomId, "entries", store), key("room", roomId, "stores")], isForm: true },
  );
}

export function useDeleteEntry(roomId: string, store: string, entry: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.stores.delete(roomId, store, entry), {
    notice: "Entry deleted",
    invalidates: [key("room", roomId, "entries", store), key("room", roomId, "stores")],
    isForm: true,
  });
}
