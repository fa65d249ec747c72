/** Messages that concern those who are there now and nobody else: passed on, never kept. */
import { AppError } from "../errors.ts";
import type { Connections } from "./connections.ts";
import type { Effect } from "./effects.ts";
import { byteLength, MAX_BROADCAST_BYTES } from "./limits.ts";
import type { BroadcastData } from "./messages.ts";

/** Reaches the users named or, without names, all joined sockets but the sender's own. */
export function broadcast(
  connections: Connections,
  { event, data = null, userIds }: BroadcastData,
  from: { readonly userId: string | null; readonly socketId: string | null },
): { readonly delivered: number; readonly effects: Effect[] } {
  if (byteLength(JSON.stringify(data)) > MAX_BROADCAST_BYTES)
    throw new AppError("Rooms", "VALIDATION_ERROR", `data: must have at most ${MAX_BROADCAST_BYTES} bytes`);
  const named = userIds === undefined ? connections.users() : new Set(userIds);
  const reached = [...named].flatMap((userId) => {
    const tabs = connections.tabsOf(userId);
    const to = userIds === undefined ? tabs.filter((id) => id !== from.socketId) : tabs;
    return to.length === 0 ? [] : [to];
  });
  const message = { type: "event", event: "broadcast", data: { event, data, from: from.userId } } as const;
  return {
    delivered: reached.length,
    effects: reached.length === 0 ? [] : [{ type: "send", to: reached.flat(), message }],
  };
}
