/** One room as it is now, and what can be done to it. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Room, Search } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAct } from "../data/use-action.ts";

/** How often what is live is asked for while somebody looks at it. */
export const LIVE_MS = 2000;

export function useRoom(roomId: string, users: Search = {}) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("room", roomId, "users", users),
    queryFn: () => atrium.rooms.get(roomId, users),
    refetchInterval: LIVE_MS,
    placeholderData: keepPreviousData,
  });
}

export interface RoomChanges {
  readonly name?: string;
  readonly customId?: string | null;
  readonly state?: Room["state"];
}

export function useUpdateRoom(roomId: string, done: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct((changes: RoomChanges) => atrium.rooms.update(roomId, changes), {
    done,
    touches: [key("room", roomId), key("rooms")],
  });
}

export function useReconcile(roomId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct(() => atrium.rooms.reconcile(roomId), {
    done: ({ previous_active_participants: before, reconciled_active_participants: now }) =>
      before === now
        ? `The counter was right: ${now} online`
        : `The counter was ${before}, and is ${now} now`,
    touches: [key("room", roomId), key("rooms")],
  });
}

export function useDeleteRoom(roomId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct(() => atrium.rooms.delete(roomId), {
    done: "Room deleted",
    touches: [key("rooms"), key("overview")],
    isForm: true,
  });
}
