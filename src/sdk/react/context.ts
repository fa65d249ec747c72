/** The context through which a RoomProvider passes its room to the hooks below it. */
import { createContext, useContext } from "react";
import { invalid } from "../core/error.ts";
import type { RoomHandle } from "./room-handle.ts";

export const RoomContext = createContext<RoomHandle | null>(null);

/** The room of the nearest RoomProvider. Throws outside of one. */
export function useRoomHandle(): RoomHandle {
  const handle = useContext(RoomContext);
  if (handle === null) throw invalid("Client", "Atrium's hooks must be used inside a <RoomProvider>");
  return handle;
}
