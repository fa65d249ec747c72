/** Who is online, and who was seen in a span of time: looked up among the latest sessions of the room. Pure. */
import type { SeenFilter } from "../../protocol/room-request.ts";
import type { Stay } from "../../storage/storage.ts";

/** So many are read, which takes some milliseconds; users whose last session is older are not found. */
const MAX_STAYS = 10_000;

interface KnownSessions {
  open(): readonly { readonly user: { readonly id: string } }[];
  latestStays(limit: number): readonly Stay[];
}

/** The users that a filter names, or, with `isExcluding`, those whom it leaves out. */
export function findSeen(
  sessions: KnownSessions,
  { online, from, to, now }: SeenFilter,
): { readonly userIds: readonly string[]; readonly isExcluding: boolean } {
  const open = sessions.open().map(({ user }) => user.id);
  const isWithin = (time: number) => time >= (from ?? time) && time <= (to ?? time);
  const hasTimes = from !== null || to !== null;
  if (online === true) return { userIds: isWithin(now) ? open : [], isExcluding: false };
  if (!hasTimes) return { userIds: open, isExcluding: true };
  const latest = new Map<string, number>();
  for (const { userId, leftAt } of sessions.latestStays(MAX_STAYS))
    if (!latest.has(userId)) latest.set(userId, leftAt ?? now);
  for (const userId of open) {
    if (online === false) latest.delete(userId);
    else latest.set(userId, now);
  }
  return { userIds: [...latest].flatMap(([userId, at]) => (isWithin(at) ? userId : [])), isExcluding: false };
}
