/** The context through which a RoomProvider passes its room to the hooks below it. */
import { createContext, useContext } from "react";
import type { AnyClient } from "./any-client.ts";
import { OwnPresence } from "./own-presence.ts";
import { SharedConnection } from "./shared-connection.ts";

export interface RoomHandle {
  readonly client: AnyClient;
  readonly connection: SharedConnection;
  readonly ownPresence: OwnPresence;
}

/** By client, so that providers that share one leave when the last of them unmounts. */
const handles = new WeakMap<AnyClient, RoomHandle>();

export function handleOf(client: AnyClient): RoomHandle {
  const known = handles.get(client);
  if (known !== undefined) return known;
  const handle = { client, connection: new SharedConnection(client), ownPresence: new OwnPresence(client) };
  handles.set(client, handle);
  return handle;
}

export const RoomContext = createContext<RoomHandle | null>(null);

/** The room of the nearest RoomProvider. Throws outside of one. */
export function useRoomHandle(): RoomHandle {
  const handle = useContext(RoomContext);
  if (handle === null) throw new Error("Atrium's hooks must be used inside a <RoomProvider>");
  return handle;
}
