/** The stores of a room and their entries, as they change. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAct } from "../data/use-action.ts";
import { useLive } from "./live.tsx";
import { LIVE_MS } from "./use-room.ts";

export function useStores(roomId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("room", roomId, "stores"),
    queryFn: () => atrium.stores.list(roomId),
    refetchInterval: LIVE_MS,
  });
}

/** Asked for every two seconds, and at once with each change that the room tells of while one is in it. */
export function useEntries(roomId: string, store: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  const queries = useQueryClient();
  const { client } = useLive();
  useEffect(() => {
    const watched = client?.store(store);
    if (watched === undefined) return;
    void watched.sync().catch(() => {}); // asked for anyway
    return watched.on("updated", () => {
      void queries.invalidateQueries({ queryKey: key("room", roomId, "entries", store) });
    });
  }, [client, store, queries, key, roomId]);
  return useQuery({
    queryKey: key("room", roomId, "entries", store),
    queryFn: () => atrium.stores.getAll(roomId, store),
    refetchInterval: LIVE_MS,
  });
}

export interface EntryWrite {
  readonly key: string;
  readonly value: unknown;
  /** What it must be now, 0 for nothing: else somebody was faster. */
  readonly ifVersion: number;
}

export function useSetEntry(roomId: string, store: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct(
    ({ key: entry, value, ifVersion }: EntryWrite) =>
      atrium.stores.set(roomId, store, entry, value, { ifVersion }),
    { touches: [key("room", roomId, "entries", store), key("room", roomId, "stores")], isForm: true },
  );
}

export function useDeleteEntry(roomId: string, store: string, entry: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct(() => atrium.stores.delete(roomId, store, entry), {
    done: "Entry deleted",
    touches: [key("room", roomId, "entries", store), key("room", roomId, "stores")],
    isForm: true,
  });
}
