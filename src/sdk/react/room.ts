/** Hooks for the room as a whole: what it is, how the connection fares, and what is called out in it. */
import { useCallback, useEffect, useMemo, useRef } from "react";
import type { Notification, Role, Room } from "../client/index.ts";
import { type AnyClient, useRoomHandle } from "./context.ts";
import { ExternalSource, together, useExternalSource } from "./external-source.ts";
import type { ConnectionStatus } from "./shared-connection.ts";

/** How the connection fares, for a notice such as "Reconnecting…". */
export const useConnection = (): ConnectionStatus => useExternalSource(useRoomHandle().connection);

/** The room and the role in it, null until it was joined; and the client, for what has no hook. */
export function useRoom(): {
  readonly client: AnyClient;
  readonly room: Room | null;
  readonly role: Role | null;
} {
  const { client, connection } = useRoomHandle();
  const source = useMemo(
    () =>
      new ExternalSource(
        (changed) => together(connection.subscribe(changed), client.on("roomUpdated", changed)),
        () => ({ client, room: client.currentRoom, role: client.role }),
      ),
    [client, connection],
  );
  return useExternalSource(source);
}

/**
 * The function that sends a message of this name to all others who are online or, with `userIds`, to those; it gives
 * how many were reached. `listener` is called for messages of others, always the one of the latest rendering.
 */
export function useBroadcast(
  event: string,
  listener?: (notification: Notification) => void,
): (data?: unknown, userIds?: readonly string[]) => Promise<number> {
  const { client } = useRoomHandle();
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(
    () => client.notifications.on(event, (notification) => latest.current?.(notification)),
    [client, event],
  );
  return useCallback(
    (data?: unknown, userIds?: readonly string[]) => client.notifications.broadcast(event, data, userIds),
    [client, event],
  );
}
