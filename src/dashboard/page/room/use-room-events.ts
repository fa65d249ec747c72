/** What happened in a room lately, from the event log: the newest first, continued while the page is open. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { EventPage } from "atrium/server";
import { HOUR_MS } from "../../../platform/durations.ts";
import { useCurrent, useKey } from "../data/organization.tsx";
import { LIVE_REFRESH_MS } from "../live/live-refresh.ts";

export type RoomEvent = EventPage["events"][number];

const SHOWN = 50;

interface Stream {
  readonly events: readonly RoomEvent[];
  /** Where the next read continues. */
  readonly cursor: string;
}

export function useRoomEvents(roomId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  const queries = useQueryClient();
  const queryKey = key("room", roomId, "events");
  return useQuery({
    queryKey,
    queryFn: async (): Promise<Stream> => {
      const known = queries.getQueryData<Stream>(queryKey);
      const since =
        known === undefined
          ? { from: new Date(Date.now() - HOUR_MS).toISOString() }
          : { after: known.cursor };
      let { events = [] as readonly RoomEvent[], cursor = "" } = known ?? {};
      for await (const page of atrium.events.pages({ roomId, limit: 100, ...since })) {
        events = [...page.events.toReversed(), ...events].slice(0, SHOWN);
        cursor = page.cursor;
      }
      return { events, cursor };
    },
    refetchInterval: LIVE_REFRESH_MS,
    structuralSharing: false,
  });
}
