/** Hooks for those who are here: who they are, and what they show. */
import { useMemo } from "react";
import type { PresenceState, User } from "../client/index.ts";
import { type AnyClient, useRoomHandle } from "./context.ts";
import { ExternalSource, together, type Unsubscribe, useExternalSource } from "./external-source.ts";

/** A user who is online. */
export interface Member {
  readonly user: User;
  /** What the user shows, with a `color` from the service; null for nothing. Anyone may show anything. */
  readonly presence: PresenceState | null;
}

const watchPeople = (client: AnyClient, changed: () => void): Unsubscribe =>
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

function usePeople<People>(read: (client: AnyClient) => People): People {
  const { client } = useRoomHandle();
  const source = useMemo(
    () =>
      new ExternalSource(
        (changed) => watchPeople(client, changed),
        () => read(client),
      ),
    [client, read],
  );
  return useExternalSource(source);
}

/** All others who are online, in the order in which they came. */
export const useOthers = (): readonly Member[] => usePeople(othersOf);

/** Oneself as the others see one; null until the room was joined. */
export const useSelf = (): Member | null => usePeople(selfOf);

/**
 * What oneself shows, empty at first, and the function that changes some of its fields. Changes are seen here at
 * once, and sent at most every 50 ms. Throws VALIDATION_ERROR for more than 8 KiB of JSON.
 */
export function usePresence<State extends object = PresenceState>(): [
  Readonly<Partial<State>>,
  (change: Partial<State>) => void,
] {
  const { ownPresence } = useRoomHandle();
  return [stateOf<State>(useExternalSource(ownPresence)), ownPresence.update];
}

/** Nobody but this program's own `update` has written it. */
const stateOf = <State extends object>(state: PresenceState) => state as Readonly<Partial<State>>;
