/** Hooks for the room, the connection and broadcasts. */
import { useCallback, useEffect, useRef } from "react";
import type { BroadcastArguments, BroadcastListener, BroadcastsIn, Registered } from "../client/index.ts";
import { useRoomHandle } from "./context.ts";
import type { RoomInfo } from "./room-handle.ts";
import { useSelection, useSource } from "./selection.ts";
import type { ConnectionState, ConnectionStatus } from "./shared-connection.ts";

/** The state of the connection and why it is closed, for a notice such as "Reconnecting…". */
export const useConnection = (): ConnectionStatus => useSource(useRoomHandle().connection);

const stateOf = ({ state }: ConnectionStatus): ConnectionState => state;

/** The state of the connection. */
export const useStatus = (): ConnectionState => useSelection(useRoomHandle().connection, stateOf);

/** Whether there are changes of stores that the service has not confirmed, for a notice such as "Saving…". */
export const useHasUnsyncedChanges = (): boolean => useSource(useRoomHandle().hasUnsyncedChanges);

/** The room and your role in it, null until it was joined, and the client, for everything without a hook. */
export const useRoom = (): RoomInfo => useSource(useRoomHandle().room);

/** The data of broadcasts by their names, as the application has registered it. */
type RegisteredBroadcasts = BroadcastsIn<Registered>;

/**
 * Returns a function that sends a message of this name to all other users who are online or, with `userIds`, to those
 * users; it resolves to how many received it. The latest `listener` is called for the messages of others.
 */
export function useBroadcast<Name extends keyof RegisteredBroadcasts & string>(
  event: Name,
  listener?: BroadcastListener<RegisteredBroadcasts[Name]>,
): (...args: BroadcastArguments<RegisteredBroadcasts[Name]>) => Promise<number>;
export function useBroadcast(
  event: string,
  listener?: BroadcastListener,
): (data?: unknown, userIds?: readonly string[]) => Promise<number> {
  const { client } = useRoomHandle();
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(
    () => client.notifications.on(event, (data, from) => latest.current?.(data, from)),
    [client, event],
  );
  return useCallback(
    (data?: unknown, userIds?: readonly string[]) => client.notifications.broadcast(event, data, userIds),
    [client, event],
  );
}
