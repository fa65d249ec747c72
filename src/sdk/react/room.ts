/** Hooks for the room, the connection and broadcasts. */
import { useCallback, useEffect, useMemo, useRef } from "react";
import type { BroadcastListener, Role, Room } from "../client/index.ts";
import type { AnyClient } from "./any-client.ts";
import { useRoomHandle } from "./context.ts";
import { ExternalSource, together, useExternalSource } from "./external-source.ts";
import type { ConnectionStatus } from "./shared-connection.ts";

/** The state of the connection, for a notice such as "Reconnecting…". */
export const useConnection = (): ConnectionStatus => useExternalSource(useRoomHandle().connection);

/** The room and your role in it, null until it was joined, and the client, for everything without a hook. */
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
 * Returns a function that sends a message of this name to all other users who are online or, with `userIds`, to those
 * users; it resolves to how many received it. The latest `listener` is called for the messages of others.
 */
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
