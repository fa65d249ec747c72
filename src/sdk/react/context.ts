/** What a RoomProvider hands down to the hooks below it. */
import { createContext, useContext } from "react";
import type { AtriumClient } from "../client/index.ts";
import { OwnPresence } from "./own-presence.ts";
import { SharedConnection } from "./shared-connection.ts";

/** A client with whichever stores: any of them is had by `store(name)`. */
export type AnyClient = Omit<AtriumClient, "stores">;

export interface RoomHandle {
  readonly client: AnyClient;
  readonly connection: SharedConnection;
  readonly ownPresence: OwnPresence;
}

/** Of clients, so that providers that share one leave when the last of them is gone. */
const handles = new WeakMap<AnyClient, RoomHandle>();

export function handleOf(client: AnyClient): RoomHandle {
  const known = handles.get(client);
  if (known !== undefined) return known;
  const handle = { client, connection: new SharedConnection(client), ownPresence: new OwnPresence(client) };
  handles.set(client, handle);
  return handle;
}

export const RoomContext = createContext<RoomHandle | null>(null);

/** The room that a hook is used in; throws outside of a RoomProvider, as that is a mistake in the program. */
export function useRoomHandle(): RoomHandle {
  const handle = useContext(RoomContext);
  if (handle === null) throw new Error("Atrium's hooks work below a <RoomProvider> only");
  return handle;
}
