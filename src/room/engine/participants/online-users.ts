/** The users online, whole or by page, and the users that were seen in a time. */

import { LIMITS } from "@atrium/contract/limits.ts";
import type { OnlinePlace, SeenFilter } from "@atrium/contract/operations/presence.ts";
import { presentUser, type User } from "@atrium/contract/resources/user.ts";
import { byteLength } from "@atrium/contract/text.ts";
import type { OpenSession, Stay } from "../../storage/storage.ts";

export const presentOnline = ({ user, joinedAt }: OpenSession): User =>
  presentUser(user, { online: true, joinedAt });

interface OnlinePage {
  readonly users: readonly User[];
  /** The last of them, if others follow. */
  readonly next: OnlinePlace | undefined;
}

/** Users keep their places while they are online: a client that reads all pages, and applies joins and leaves, has everyone. */
const byJoin = (sessions: readonly OpenSession[]): readonly OpenSession[] =>
  sessions.toSorted((one, other) => one.joinedAt - other.joinedAt);

export const allOnline = (sessions: readonly OpenSession[]): User[] => byJoin(sessions).map(presentOnline);

/** The users behind a place: at least one, if there are any, at most `limit`, and about {@link LIMITS.onlinePageBytes}. */
export function onlinePage(sessions: readonly OpenSession[], limit: number, after?: OnlinePlace): OnlinePage {
  const ordered = byJoin(sessions);
  const start = after === undefined ? 0 : firstBehind(ordered, after);
  const users: User[] = [];
  let bytes = 0;
  for (const session of ordered.slice(start, start + limit)) {
    if (bytes >= LIMITS.onlinePageBytes) break;
    const user = presentOnline(session);
    bytes += byteLength(JSON.stringify(user));
    users.push(user);
  }
  const end = start + users.length;
  const last = end < ordered.length ? ordered[end - 1] : undefined;
  return { users, next: last && { joined_at: new Date(last.joinedAt).toISOString(), id: last.user.id } };
}

/** The first page, and before it the user of `own` if it is not there; null for a socket that only watches. */
export function firstOnlinePage(
  sessions: readonly OpenSession[],
  limit: number,
  own: OpenSession | null,
): OnlinePage {
  const page = onlinePage(sessions, limit);
  if (own === null || page.users.some(({ id }) => id === own.user.id)) return page;
  return { ...page, users: [presentOnline(own), ...page.users] };
}

/**
 * The index behind the user with this id. If it has left: behind all users who joined earlier, so some may
 * appear twice.
 */
function firstBehind(ordered: readonly OpenSession[], { joined_at, id }: OnlinePlace): number {
  const joinedAt = Date.parse(joined_at);
  const index = ordered.findIndex((session) => session.joinedAt === joinedAt && session.user.id === id);
  if (index >= 0) return index + 1;
  const first = ordered.findIndex((session) => session.joinedAt >= joinedAt);
  return first < 0 ? ordered.length : first;
}

/** Stays that are read, in some milliseconds; users whose last session is older are not found. */
const MAX_STAYS = 10_000;

interface KnownSessions {
  open(): readonly { readonly user: { readonly id: string } }[];
  latestStays(limit: number): readonly Stay[];
}

/** The users that a filter names or, with `isExcluding`, leaves out. */
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
