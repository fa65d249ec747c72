/** Refreshes what a page shows of a room, shortly after the room reports that it has changed. */
import { useQueryClient } from "@tanstack/react-query";
import type { AtriumClient } from "atrium/client";
import { useEffect } from "react";
import { useKey } from "../data/organization.tsx";
import type { RoomFeed } from "./room-feed.ts";

/** Combines changes in quick succession into one request. */
const DEBOUNCE_MS = 250;

interface Watched {
  readonly client: AtriumClient | null;
  readonly feed: RoomFeed | null;
}

/** Refreshes the queries that the room's messages say have changed. */
export function useLiveRefresh(roomId: string, { client, feed }: Watched): void {
  const queries = useQueryClient();
  const key = useKey();
  useEffect(() => {
    if (client === null || feed === null) return;
    const waiting = new Map<string, ReturnType<typeof setTimeout>>();
    const refreshSoon = (...part: readonly string[]) => {
      const id = JSON.stringify(part);
      if (waiting.has(id)) return;
      const run = () => {
        waiting.delete(id);
        void queries.invalidateQueries({ queryKey: key("room", roomId, ...part) });
      };
      waiting.set(id, setTimeout(run, DEBOUNCE_MS));
    };
    const refresh = (part: string) => () => refreshSoon(part);
    refresh("users")();
    const offs = [
      client.on("roomUpdated", refresh("users")),
      client.users.on("updated", refresh("users")),
      client.comments.on("created", refresh("comments")),
      client.comments.on("updated", refresh("comments")),
      client.comments.on("deleted", refresh("comments")),
      feed.listen((item) => {
        if (item.type !== "write") return;
        refreshSoon("entries", item.store);
        refreshSoon("stores");
      }),
    ];
    return () => {
      for (const off of offs) off();
      for (const timer of waiting.values()) clearTimeout(timer);
    };
  }, [client, feed, queries, key, roomId]);
}
