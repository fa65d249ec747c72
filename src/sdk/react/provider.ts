/** The provider that connects a tree of components to a room while it is mounted. */
import { createElement, type ReactNode, useEffect, useMemo } from "react";
import { AtriumClient, type Role, type StoreShapes } from "../client/index.ts";
import type { AnyClient } from "./any-client.ts";
import { handleOf, RoomContext } from "./context.ts";

/** Either a client, or the options to create one. */
export type RoomProviderProps = {
  /** The role to request when joining; `editor` by default. */
  readonly role?: Role | undefined;
  readonly children?: ReactNode;
} & (
  | {
      readonly client: AnyClient;
      readonly serverUrl?: never;
      readonly authToken?: never;
      readonly stores?: never;
    }
  | {
      readonly client?: never;
      readonly serverUrl: string;
      /** The user's token. If it changes, the new user joins instead. */
      readonly authToken: string;
      /** The result of `defineStores`. Call it outside of components: a new object creates a new client. */
      readonly stores?: StoreShapes | undefined;
    }
);

/** Joins the room when it mounts, and disconnects when it unmounts. Its children render at once. */
export function RoomProvider(props: RoomProviderProps): ReactNode {
  const { client, serverUrl = "", authToken = "", stores, role, children } = props;
  const handle = useMemo(
    () => handleOf(client ?? new AtriumClient({ serverUrl, authToken, ...(stores && { stores }) })),
    [client, serverUrl, authToken, stores],
  );
  useEffect(() => handle.connection.acquire(role), [handle, role]);
  return createElement(RoomContext.Provider, { value: handle }, children);
}
