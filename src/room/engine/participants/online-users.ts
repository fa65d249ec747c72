/** The users online as JSON, whole or by page: kept, because the answer to each join has some. */

import { byteLength } from "../../../platform/text.ts";
import { presentUser, type User } from "../../../wire/user.ts";
import { JsonText } from "../../protocol/frame.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { OnlinePlace } from "../../protocol/messages.ts";
import type { SeenFilter } from "../../protocol/room-request.ts";
import type { OpenSession, Stay } from "../../storage/storage.ts";

export const presentOnline = ({ user, joinedAt }: OpenSession): User =>
  presentUser(user, { online: true, joinedAt });

interface OnlinePage {
  readonly users: JsonText;
  /** The last of them, if others follow. */
  readonly next: OnlinePlace | undefined;
}

interface Member {
  readonly userId: string;
  readonly joinedAt: number;
  /** The user as JSON, and its size in bytes. */
  readonly text: string;
  readonly bytes: number;
}

function memberOf(session: OpenSession): Member {
  const text = JSON.stringify(presentOnline(session));
  return { userId: session.user.id, joinedAt: session.joinedAt, text, bytes: byteLength(text) };
}

const arrayOf = (members: readonly Member[]): JsonText =>
  new JsonText(`[${members.map(({ text }) => text).join()}]`);

export class OnlineUsers {
  readonly #sessions: ReadonlyMap<string, OpenSession>;
  readonly #known = new WeakMap<OpenSession, Member>();
  /**
   * By join; null when it is out of date. Users keep their places while they are online: a client that reads all pages,
   * and applies joins and leaves, has everyone.
   */
  #members: Member[] | null = null;

  /** `sessions` are the open ones, by user. */
  constructor(sessions: ReadonlyMap<string, OpenSession>) {
    this.#sessions = sessions;
  }

  add(session: OpenSession): void {
    const last = this.#members?.at(-1);
    if (last !== undefined && last.joinedAt > session.joinedAt) this.outdate();
    else this.#members?.push(this.#memberOf(session));
  }

  outdate(): void {
    this.#members = null;
  }

  #memberOf(session: OpenSession): Member {
    const known = this.#known.get(session);
    if (known !== undefined) return known;
    const member = memberOf(session);
    this.#known.set(session, member);
    return member;
  }

  get #ordered(): readonly Member[] {
    this.#members ??= Array.from(this.#sessions.values(), (session) => this.#memberOf(session)).sort(
      (one, other) => one.joinedAt - other.joinedAt,
    );
    return this.#members;
  }

  get whole(): JsonText {
    return arrayOf(this.#ordered);
  }

  /** The users behind a place: at least one, if there are any, at most `limit`, and about {@link LIMITS.onlinePageBytes}. */
  page(limit: number, after?: OnlinePlace): OnlinePage {
    return pageOf(this.#ordered, limit, after);
  }

  /** The first page, and before it the user of `session` if it is not there. */
  firstPage(limit: number, session: OpenSession): OnlinePage {
    const page = pageOf(this.#ordered, limit);
    const own = this.#memberOf(session);
    return page.members.includes(own) ? page : { ...page, users: arrayOf([own, ...page.members]) };
  }
}

function pageOf(ordered: readonly Member[], limit: number, after?: OnlinePlace) {
  const start = after === undefined ? 0 : firstBehind(ordered, after);
  let end = start;
  for (let bytes = 0; end < ordered.length && end - start < limit && bytes < LIMITS.onlinePageBytes; end += 1)
    bytes += ordered[end]?.bytes ?? 0;
  const members = ordered.slice(start, end);
  const last = end < ordered.length ? members.at(-1) : undefined;
  const next = last && { joined_at: new Date(last.joinedAt).toISOString(), id: last.userId };
  return { members, users: arrayOf(members), next };
}

/** Behind the user with this id or, if it has left, behind all who joined before it: some may be named twice. */
function firstBehind(ordered: readonly Member[], { joined_at, id }: OnlinePlace): number {
  const joinedAt = Date.parse(joined_at);
  const index = ordered.findIndex((member) => member.joinedAt === joinedAt && member.userId === id);
  if (index >= 0) return index + 1;
  const first = ordered.findIndex((member) => member.joinedAt >= joinedAt);
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
