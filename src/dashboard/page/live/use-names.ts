/** The names of a room's newest users by ID. */
import { useQuery } from "@tanstack/react-query";
import type { User } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";

const MAX_USERS = 100;
const STALE_MS = 15_000;

export interface Names {
  /** Undefined while loading. */
  readonly users: readonly User[] | undefined;
  /** The user's name, or the ID if the user is not among the newest. */
  readonly nameOf: (userId: string) => string;
}

export function useNames(roomId: string): Names {
  const { atrium } = useCurrent();
  const key = useKey();
  const { data } = useQuery({
    queryKey: key("room", roomId, "users", "names"),
    queryFn: () => atrium.rooms.get(roomId, { limit: MAX_USERS }),
    staleTime: STALE_MS,
  });
  const users = data?.users;
  return { users, nameOf: (userId) => users?.find(({ id }) => id === userId)?.name ?? userId };
}
