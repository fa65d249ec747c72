/** Queries and actions for the list of rooms. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Room, RoomSearch } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { oneByOne } from "../data/several-requests.ts";
import { useAction } from "../data/use-action.ts";
import type { BulkAction } from "../ui/bulk-action.ts";

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

/** What can be done with several rooms. */
export function useRoomActions(): readonly BulkAction<Room>[] {
  const { rooms } = useCurrent().atrium;
  return [
    {
      label: "Close",
      done: "closed",
      consequences:
        "Everyone in them is disconnected, and no one can join until they are reopened. They keep all that they have.",
      applies: ({ state }) => state === "active",
      run: oneByOne(({ id }) => rooms.update(id, { state: "closed" })),
    },
    {
      label: "Reopen",
      done: "reopened",
      consequences: "Their users can join again.",
      applies: ({ state }) => state === "closed",
      run: oneByOne(({ id }) => rooms.update(id, { state: "active" })),
    },
    {
      label: "Delete",
      done: "deleted",
      consequences:
        "Their users, stores, documents, comments and files are deleted with them, and all participants are disconnected. This cannot be undone.",
      isDanger: true,
      isTyped: true,
      run: oneByOne(({ id }) => rooms.delete(id)),
    },
  ];
}
