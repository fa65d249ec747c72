/** Hooks for the users who are online, and their presence. */
import { useMemo } from "react";
import type { PresenceState, User } from "../client/index.ts";
import type { AnyClient } from "./any-client.ts";
import { useRoomHandle } from "./context.ts";
import { ExternalSource, together, type Unsubscribe, useExternalSource } from "./external-source.ts";

/** A user who is online. */
export interface Member {
  readonly user: User;
  /** The user's presence, with a `color` from the service; null if there is none. Validate it: users set it freely. */
  readonly presence: PresenceState | null;
}

const watchUsers = (client: AnyClient, changed: () => void): Unsubscribe =>
  together(client.users.on("updated", changed), client.presence.sync("*", changed));

const memberOf = (client: AnyClient, user: User): Member => ({
  user,
  presence: client.presence.getStates().get(user.id) ?? null,
});

function othersOf(client: AnyClient): readonly Member[] {
  const others = [...client.users.online.values()].filter(({ id }) => id !== client.userId);
  return others.map((user) => memberOf(client, user));
}

function selfOf(client: AnyClient): Member | null {
  const user = client.currentUser;
  return user && memberOf(client, user);
}

function useUsers<Result>(read: (client: AnyClient) => Result): Result {
  const { client } = useRoomHandle();
  const source = useMemo(
    () =>
      new ExternalSource(
        (changed) => watchUsers(client, changed),
        () => read(client),
      ),
    [client, read],
  );
  return useExternalSource(source);
}

/** All other users who are online, in the order in which they joined. */
export const useOthers = (): readonly Member[] => useUsers(othersOf);

/** Yourself as the others see you; null until the room was joined. */
export const useSelf = (): Member | null => useUsers(selfOf);

/**
 * Your own presence, empty at first, and a function that changes some of its fields. Changes are visible here at
 * once, and sent at most every 50 ms. The function throws VALIDATION_ERROR for more than 8 KiB of JSON.
 */
export function usePresence<State extends object = PresenceState>(): [
  Readonly<Partial<State>>,
  (change: Partial<State>) => void,
] {
  const { ownPresence } = useRoomHandle();
  return [stateOf<State>(useExternalSource(ownPresence)), ownPresence.update];
}

/** Only `update` writes it, with this type. */
const stateOf = <State extends object>(state: PresenceState) => state as Readonly<Partial<State>>;
