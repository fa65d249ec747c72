/** Queries and actions for the stores of a room and their entries. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { AtriumError, type Entry } from "atrium/server";
import { useEffect } from "react";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";
import { useLive } from "./live.tsx";
import { LIVE_REFRESH_MS } from "./use-room.ts";

/** Entries that are shown of a store, which can have a hundred times as many. */
const MAX_SHOWN = 1_000;

export function useStores(roomId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("room", roomId, "stores"),
    queryFn: () => atrium.stores.list(roomId),
    refetchInterval: LIVE_REFRESH_MS,
  });
}

/** The first entries of a store: polled, and refreshed on each change while watching live. */
export function useEntries(roomId: string, store: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  const queries = useQueryClient();
  const { client } = useLive();
  useEffect(() => {
    const watched = client?.store(store);
    if (watched === undefined) return;
    void watched.sync().catch(() => {}); // the query polls anyway
    return watched.on("updated", () => {
      void queries.invalidateQueries({ queryKey: key("room", roomId, "entries", store) });
    });
  }, [client, store, queries, key, roomId]);
  return useQuery({
    queryKey: key("room", roomId, "entries", store),
    queryFn: () => atrium.stores.getPage(roomId, store, { limit: MAX_SHOWN }),
    refetchInterval: LIVE_REFRESH_MS,
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
