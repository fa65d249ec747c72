/** The rooms of the organization, and the making of one. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Search } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAct } from "../data/use-action.ts";

/** A part of the list, asked for again every `refreshMs`. */
export function useRooms(search: Search, refreshMs: number | false = false) {
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
  return useAct(create, { touches: [key("rooms"), key("overview")], isForm: true });
}
