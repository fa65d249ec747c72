/** Who the users behind ids are: the newest of a room by name. */
import { useQuery } from "@tanstack/react-query";
import type { User } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";

const LOOKED_AT = 100;
const KEPT_MS = 15_000;

export interface Names {
  /** Undefined while they are on their way. */
  readonly users: readonly User[] | undefined;
  /** The name, or the id of whoever is not among them. */
  readonly nameOf: (userId: string) => string;
}

export function useNames(roomId: string): Names {
  const { atrium } = useCurrent();
  const key = useKey();
  const { data } = useQuery({
    queryKey: key("room", roomId, "users", "names"),
    queryFn: () => atrium.rooms.get(roomId, { limit: LOOKED_AT }),
    staleTime: KEPT_MS,
  });
  const users = data?.users;
  return { users, nameOf: (userId) => users?.find(({ id }) => id === userId)?.name ?? userId };
}
