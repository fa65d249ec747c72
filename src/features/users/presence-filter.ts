/** Filters users by who is online and when each was last seen, which only the room's object knows. */
import * as z from "zod";
import { timeParameter } from "../../http/lists/time-parameter.ts";
import type { LiveRoomContext } from "../rooms/context.ts";
import { getRoomRow } from "../rooms/queries.ts";
import type { NamedUsers } from "./named-users.ts";

const seen = (end: "from" | "to") =>
  timeParameter(
    end,
    `Only users who were last seen at or ${end === "from" ? "after" : "before"} this time, of those of the room's latest 10,000 sessions; users who are online are seen now.`,
  );

/** The query parameters. */
export const presenceFilter = {
  online: z
    .enum(["true", "false"])
    .optional()
    .meta({ description: "Only users who are online, or only those who are not." }),
  lastSeenFrom: seen("from"),
  lastSeenTo: seen("to"),
};

/** The parsed parameters; times are epoch milliseconds. */
export interface PresenceFilter {
  readonly online?: "true" | "false" | undefined;
  readonly lastSeenFrom?: number | undefined;
  readonly lastSeenTo?: number | undefined;
}

/** As a room answers USERS_SEEN. */
interface UsersSeen {
  readonly userIds: readonly string[];
  readonly isExcluding: boolean;
}

/** The users that the room names for a filter; null without one. NOT_FOUND when the room does not exist. */
export async function findNamed(
  ctx: LiveRoomContext,
  roomId: string,
  { online, lastSeenFrom, lastSeenTo }: PresenceFilter,
): Promise<NamedUsers | null> {
  if (online === undefined && lastSeenFrom === undefined && lastSeenTo === undefined) return null;
  await getRoomRow(ctx, roomId);
  const data = {
    online: online === undefined ? null : online === "true",
    from: lastSeenFrom ?? null,
    to: lastSeenTo ?? null,
    now: ctx.now(),
  };
  const seen = (await ctx.rooms.request(roomId, ctx.accountId, { type: "USERS_SEEN", data })) as UsersSeen;
  return { ids: JSON.stringify(seen.userIds), isExcluding: seen.isExcluding };
}
