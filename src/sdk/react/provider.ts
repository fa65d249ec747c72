/** The provider that connects a tree of components to a room while it is mounted. */
import { createElement, type ReactNode, useEffect, useMemo, useState } from "react";
import type { AuthToken, Role } from "../client/index.ts";
import type { AnyClient } from "./any-client.ts";
import { RoomContext } from "./context.ts";
import { type RoomOptions, roomOf, roomOfClient } from "./rooms.ts";

interface GivenClient {
  readonly client: AnyClient;
  readonly serverUrl?: never;
  readonly authToken?: never;
  readonly stores?: never;
  readonly offline?: never;
  readonly warnBeforeUnload?: never;
}

/** Either a client, or the options to create one. */
export type RoomProviderProps = {
  /** The role to request when joining; `editor` by default. */
  readonly role?: Role | undefined;
  readonly children?: ReactNode;
} & (GivenClient | (Omit<RoomOptions, "role"> & { readonly client?: never }));

/**
 * Joins the room when it mounts, and disconnects when it unmounts. Its children render at once. Providers with equal
 * options share one client and one connection, until the last of them unmounts. A function as `authToken` can be
 * another one in each render; the first one counts as the option.
 */
export function RoomProvider(props: RoomProviderProps): ReactNode {
  const { client, serverUrl = "", authToken = "", stores, offline, warnBeforeUnload, role } = props;
  const token = useStableToken(authToken);
  const handle = useMemo(
    () =>
      client === undefined
        ? roomOf({ serverUrl, authToken: token, stores, offline, warnBeforeUnload, role })
        : roomOfClient(client, role),
    [client, serverUrl, token, stores, offline, warnBeforeUnload, role],
  );
  useEffect(() => {
    handle.authToken = authToken;
  }, [handle, authToken]);
  useEffect(() => handle.connection.acquire(), [handle]);
  return createElement(RoomContext.Provider, { value: handle }, props.children);
}

/** The token, or the first of the functions that are passed one after the other. */
function useStableToken(authToken: AuthToken): AuthToken {
  const [first, setFirst] = useState(() => authToken);
  const isSame = first === authToken || (typeof first === "function" && typeof authToken === "function");
  if (!isSame) setFirst(() => authToken);
  return isSame ? first : authToken;
}
