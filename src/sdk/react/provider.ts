/** The provider that connects a tree of components to a room while it is mounted. */
import { createElement, type ReactNode, useEffect, useMemo } from "react";
import type { Role } from "../client/index.ts";
import type { AnyClient } from "./any-client.ts";
import { RoomContext } from "./context.ts";
import { type RoomOptions, roomOf, roomOfClient } from "./rooms.ts";

interface GivenClient {
  readonly client: AnyClient;
  readonly serverUrl?: never;
  readonly authToken?: never;
  readonly stores?: never;
}

/** Either a client, or the options to create one. */
export type RoomProviderProps = {
  /** The role to request when joining; `editor` by default. */
  readonly role?: Role | undefined;
  readonly children?: ReactNode;
} & (GivenClient | (Omit<RoomOptions, "role"> & { readonly client?: never }));

/**
 * Joins the room when it mounts, and disconnects when it unmounts. Its children render at once. Providers with equal
 * options share one client and one connection, until the last of them unmounts.
 */
export function RoomProvider(props: RoomProviderProps): ReactNode {
  const { client, serverUrl = "", authToken = "", stores, role, children } = props;
  const handle = useMemo(
    () =>
      client === undefined ? roomOf({ serverUrl, authToken, stores, role }) : roomOfClient(client, role),
    [client, serverUrl, authToken, stores, role],
  );
  useEffect(() => handle.connection.acquire(), [handle]);
  return createElement(RoomContext.Provider, { value: handle }, children);
}
