/** Queries and actions for the users of a room. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Role, User, UserSearch } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { oneByOne } from "../data/several-requests.ts";
import { useAction } from "../data/use-action.ts";
import { LIVE_REFRESH_MS } from "../live/live-refresh.ts";
import { saveFile } from "../ui/copy.tsx";
import type { BulkAction } from "../ui/several.tsx";

export function useUsers(roomId: string, search: UserSearch) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("room", roomId, "users", "with tokens", search),
    queryFn: () => atrium.users.list(roomId, search),
    refetchInterval: LIVE_REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

/** A user with their token and sessions. */
export function useUser(roomId: string, userId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("room", roomId, "users", "one", userId),
    queryFn: () => atrium.users.get(roomId, userId),
    refetchInterval: LIVE_REFRESH_MS,
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
  return useAction((user: UserInput) => atrium.users.create({ ...user, roomId }), {
    notice: ({ name }) => `User ${name} created`,
    invalidates: [key("room", roomId), key("overview")],
    isForm: true,
  });
}

export function useRenameUser(roomId: string, userId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction((name: string) => atrium.users.update(roomId, userId, { name }), {
    notice: "User saved",
    invalidates: [key("room", roomId, "users")],
    isForm: true,
  });
}

/** Closes the connections of a user who is online. */
export function useRemoveParticipant({ id, room_id, name }: User) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.removeParticipant(room_id, id), {
    notice: `${name} was disconnected`,
    invalidates: [key("room", room_id)],
    isForm: true,
  });
}

/** Ends the user's tokens so far. */
export function useEndTokens(roomId: string, userId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.users.endTokens(roomId, userId), {
    notice: "Tokens ended",
    invalidates: [key("room", roomId, "users")],
    isForm: true,
  });
}

/** Saves what is kept of the user, one JSON object a line. */
export function useExportUser(roomId: string, userId: string) {
  const { atrium } = useCurrent();
  return useAction(async () => {
    const lines: string[] = [];
    for await (const record of atrium.users.eachRecord(roomId, userId))
      lines.push(`${JSON.stringify(record)}\n`);
    saveFile(`${userId}.ndjson`, "application/x-ndjson", lines.join(""));
  });
}

/** Deletes the user; with `erases`, what they wrote as well. */
export function useDeleteUser(roomId: string, userId: string, erases: boolean) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.users[erases ? "erase" : "delete"](roomId, userId), {
    notice: erases ? "User erased" : "User deleted",
    invalidates: [key("room", roomId), key("overview")],
    isForm: true,
  });
}

/** What can be done with several users of a room. */
export function useUserActions(roomId: string): readonly BulkAction<User>[] {
  const { atrium } = useCurrent();
  return [
    {
      label: "Disconnect",
      done: "disconnected",
      consequences: "Their connections close. They can join again with their tokens.",
      applies: ({ status }) => status === "online",
      run: oneByOne(({ id }) => atrium.removeParticipant(roomId, id)),
    },
    {
      label: "End tokens of",
      done: "with tokens ended",
      consequences: "All their tokens so far stop working and their connections close. The users stay.",
      run: oneByOne(({ id }) => atrium.users.endTokens(roomId, id)),
    },
    {
      label: "Delete",
      done: "deleted",
      consequences: "Their tokens stop working and their connections close. This cannot be undone.",
      isDanger: true,
      run: oneByOne(({ id }) => atrium.users.delete(roomId, id)),
    },
  ];
}
