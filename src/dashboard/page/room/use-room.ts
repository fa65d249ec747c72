/** Queries and actions for one room. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Room, Search } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";
import { LIVE_REFRESH_MS } from "../live/live-refresh.ts";

export function useRoom(roomId: string, users: Search = {}) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("room", roomId, "users", users),
    queryFn: () => atrium.rooms.get(roomId, users),
    refetchInterval: LIVE_REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

export interface RoomChanges {
  readonly name?: string;
  readonly customId?: string | null;
  readonly state?: Room["state"];
}

export function useUpdateRoom(roomId: string, notice: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction((changes: RoomChanges) => atrium.rooms.update(roomId, changes), {
    notice,
    invalidates: [key("room", roomId), key("rooms")],
  });
}

export function useReconcile(roomId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.rooms.reconcile(roomId), {
    notice: ({ previous_active_participants: before, reconciled_active_participants: now }) =>
      before === now ? `No correction needed: ${now} online` : `Corrected from ${before} to ${now} online`,
    invalidates: [key("room", roomId), key("rooms")],
  });
}

export function useDeleteRoom(roomId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.rooms.delete(roomId), {
    notice: "Room deleted",
    invalidates: [key("rooms"), key("overview")],
    isForm: true,
  });
}
