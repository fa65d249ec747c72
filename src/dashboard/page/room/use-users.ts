/** The users of a room, and what can be done to them. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Role, Search } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAct } from "../data/use-action.ts";
import { LIVE_MS } from "./use-room.ts";

export function useUsers(roomId: string, search: Search) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("room", roomId, "users", "with tokens", search),
    queryFn: () => atrium.users.list(roomId, search),
    refetchInterval: LIVE_MS,
    placeholderData: keepPreviousData,
  });
}

/** With its token and its sessions. */
export function useUser(roomId: string, userId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("room", roomId, "users", "one", userId),
    queryFn: () => atrium.users.get(roomId, userId),
    refetchInterval: LIVE_MS,
  });
}

export interface UserInput {
  readonly name: string;
  readonly role: Role;
  readonly customId?: string;
}

export function useCreateUser(roomId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct((user: UserInput) => atrium.users.create({ ...user, roomId }), {
    done: ({ name }) => `${name} is a user now`,
    touches: [key("room", roomId), key("overview")],
    isForm: true,
  });
}

export function useRenameUser(roomId: string, userId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct((name: string) => atrium.users.update(roomId, userId, { name }), {
    done: "User changed",
    touches: [key("room", roomId, "users")],
    isForm: true,
  });
}

export function useDeleteUser(roomId: string, userId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct(() => atrium.users.delete(roomId, userId), {
    done: "User deleted",
    touches: [key("room", roomId), key("overview")],
    isForm: true,
  });
}
