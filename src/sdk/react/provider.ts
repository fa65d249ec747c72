/** Connects a tree of components to a room for as long as it is mounted. */
import { createElement, type ReactNode, useEffect, useMemo } from "react";
import { AtriumClient, type Role, type StoreShapes } from "../client/index.ts";
import { type AnyClient, handleOf, RoomContext } from "./context.ts";

/** A client that the program has made, or what to make one of. */
export type RoomProviderProps = {
  /** The role to ask for when joining: `editor`, unless told otherwise. */
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
      /** The user's token. With another one, that user joins instead. */
      readonly authToken: string;
      /** What `defineStores` gave, outside of all components: other shapes make another client. */
      readonly stores?: StoreShapes | undefined;
    }
);

/** Joins when it is mounted, and disconnects when it is unmounted. Its children need not wait for either. */
export function RoomProvider(props: RoomProviderProps): ReactNode {
  const { client, serverUrl = "", authToken = "", stores, role, children } = props;
  const handle = useMemo(
    () => handleOf(client ?? new AtriumClient({ serverUrl, authToken, ...(stores && { stores }) })),
    [client, serverUrl, authToken, stores],
  );
  useEffect(() => handle.connection.hold(role), [handle, role]);
  return createElement(RoomContext, { value: handle }, children);
}
