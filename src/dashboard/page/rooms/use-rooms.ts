/** Queries and actions for the list of rooms. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { RoomSearch } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";

/** One page of rooms, refreshed every `refreshMs` milliseconds. */
export function useRooms(search: RoomSearch, refreshMs: number | false = false) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("rooms", search),
    queryFn: () => atrium.rooms.list(search),
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
  });
}

export function useCreateRoom() {
  const { atrium } = useCurrent();
  const key = useKey();
  const create = (room: { name: string; customId?: string }) => atrium.rooms.create(room);
  return useAction(create, { invalidates: [key("rooms"), key("overview")], isForm: true });
}
