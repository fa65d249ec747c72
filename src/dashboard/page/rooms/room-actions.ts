/** What can be done with several rooms. */
import type { Room } from "atrium/server";
import { useCurrent } from "../data/organization.tsx";
import { oneByOne } from "../data/several-requests.ts";
import type { BulkAction } from "../ui/several.tsx";

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
