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
  const to: string[] = [];
  let delivered = 0;
  for (const userId of userIds === undefined ? connections.tabs.keys() : new Set(userIds)) {
    const reachedBefore = to.length;
    for (const id of connections.tabs.get(userId) ?? []) {
      if (userIds !== undefined || id !== from.socketId) to.push(id);
    }
    if (to.length > reachedBefore) delivered += 1;
  }
  const message = { type: "event", event: "broadcast", data: { event, data, from: from.userId } } as const;
  return { delivered, effects: to.length === 0 ? [] : [{ type: "send", to, message }] };
}
