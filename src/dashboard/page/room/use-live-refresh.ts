/** Refreshes what a page shows of a room, shortly after the room reports that it has changed. */
import { useQueryClient } from "@tanstack/react-query";
import type { AtriumClient } from "atrium/client";
import { useEffect } from "react";
import { useKey } from "../data/organization.tsx";

/** Combines changes in quick succession into one request. */
const DEBOUNCE_MS = 250;

/** Refreshes the queries that the room's messages say have changed. */
export function useLiveRefresh(roomId: string, client: AtriumClient | null): void {
  const queries = useQueryClient();
  const key = useKey();
  useEffect(() => {
    if (client === null) return;
    const waiting = new Map<string, ReturnType<typeof setTimeout>>();
    const refresh = (part: string) => () => {
      if (waiting.has(part)) return;
      const run = () => {
        waiting.delete(part);
        void queries.invalidateQueries({ queryKey: key("room", roomId, part) });
      };
      waiting.set(part, setTimeout(run, DEBOUNCE_MS));
    };
    refresh("users")();
    const offs = [
      client.on("roomUpdated", refresh("users")),
      client.users.on("updated", refresh("users")),
      client.comments.on("created", refresh("comments")),
      client.comments.on("updated", refresh("comments")),
      client.comments.on("deleted", refresh("comments")),
    ];
    return () => {
      for (const off of offs) off();
      for (const timer of waiting.values()) clearTimeout(timer);
    };
  }, [client, queries, key, roomId]);
}
