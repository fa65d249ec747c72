/** Presence subscriptions of sockets, and the updates that each receives. */

import { AppError } from "@atrium/contract/errors.ts";
import { LIMITS } from "@atrium/contract/limits.ts";
import { byteLength } from "@atrium/contract/text.ts";
import { JsonText } from "../../protocol/frame.ts";
import type { Connection, Effect, Joined } from "../../transport/connection.ts";
import { send } from "../../transport/connections.ts";

export const ALL_USERS = "*";
export const FOLLOWED_USERS = "following";
/** Stands for the audience that takes numbers: no id is empty. */
const NUMBERED = "";

export type FollowedBy = (userId: string) => readonly string[];

/** The event for updates that are JSON already. A slow tick asks for fewer updates by `intervalMs` (R87). */
export const presenceEvent = (updates: readonly string[], intervalMs = 0) => {
  const every = intervalMs > LIMITS.presenceIntervalMs ? `"every":${Math.ceil(intervalMs)},` : "";
  return {
    type: "event",
    event: "presence",
    data: new JsonText(`{${every}"updates":[${updates.join()}]}`),
  } as const;
};

/** Whether a socket takes numbers for users (R86). A socket with chosen users receives their few IDs. */
export const takesNumbers = ({ numbers = false, subscriptions }: Joined): boolean =>
  numbers && subscriptions.includes(ALL_USERS);

export function filterOf(
  { userId, subscriptions }: Joined,
  followedBy: FollowedBy,
): (other: string) => boolean {
  if (subscriptions.includes(ALL_USERS)) return () => true;
  const followed = subscriptions.includes(FOLLOWED_USERS) ? followedBy(userId) : [];
  const targets = new Set([...subscriptions, ...followed]);
  return (other) => targets.has(other);
}

interface News {
  readonly updateOf: (userId: string, isNumbered: boolean) => string;
  readonly intervalMs: number;
  /** Sockets are subscribed to more than a frame holds. */
  readonly exceeded: (ids: readonly string[]) => void;
}

/** The sockets that are subscribed to one of the users, together where they receive the same. */
export function audiencesOf(
  connections: Iterable<Connection>,
  userIds: readonly string[],
  followedBy: FollowedBy,
): Audience[] {
  if (userIds.length === 0) return [];
  const audiences = new Map<string, Audience>();
  for (const connection of connections) {
    if (connection.phase !== "joined" || connection.subscriptions.length === 0) continue;
    const selected = select(userIds, connection, followedBy);
    if (selected.length === 0) continue;
    const isNumbered = takesNumbers(connection);
    const key = isNumbered ? NUMBERED : selected.length === userIds.length ? ALL_USERS : selected.join("\n");
    const audience = audiences.get(key);
    if (audience === undefined) audiences.set(key, { selected, isNumbered, to: [connection.id] });
    else audience.to.push(connection.id);
  }
  return [...audiences.values()];
}

/** One frame for each socket, serialized once per audience. */
export function sendTo(audiences: readonly Audience[], { updateOf, intervalMs, exceeded }: News): Effect[] {
  return audiences.flatMap(({ selected, isNumbered, to }) => {
    const updates = selected.map((userId) => updateOf(userId, isNumbered));
    if (!exceedsFrame(updates)) return send(to, presenceEvent(updates, intervalMs));
    exceeded(to);
    return [];
  });
}

/** Users whose presence reaches no socket but `socketOf` the user. */
export function unseenOf(
  audiences: readonly Audience[],
  userIds: readonly string[],
  socketOf: (userId: string) => string | undefined,
): ReadonlySet<string> {
  const unseen = new Set(userIds);
  for (const { selected, to } of audiences) {
    if (unseen.size === 0) break;
    for (const userId of selected) if (to.length > 1 || to[0] !== socketOf(userId)) unseen.delete(userId);
  }
  return unseen;
}

/** Counts bytes only if the number of UTF-16 units (1 to 3 bytes each) leaves the result open. */
function exceedsFrame(updates: readonly string[]): boolean {
  const length = updates.reduce((sum, update) => sum + update.length, 0);
  if (length * 3 <= LIMITS.presenceFrameBytes) return false;
  return updates.reduce((sum, update) => sum + byteLength(update), 0) > LIMITS.presenceFrameBytes;
}

export interface Audience {
  readonly selected: readonly string[];
  readonly isNumbered: boolean;
  readonly to: string[];
}

function select(userIds: readonly string[], connection: Joined, followedBy: FollowedBy): readonly string[] {
  if (connection.subscriptions.includes(ALL_USERS)) return userIds;
  return userIds.filter(filterOf(connection, followedBy));
}

/** CONFLICT for more targets than a connection can have. */
export function requireWithinLimits(subscriptions: readonly string[]): void {
  if (subscriptions.length > LIMITS.subscriptions)
    throw new AppError(
      "Rooms",
      "CONFLICT",
      `A connection can have at most ${LIMITS.subscriptions} presence targets`,
    );
  if (byteLength(JSON.stringify(subscriptions)) > LIMITS.subscriptionBytes)
    throw new AppError(
      "Rooms",
      "CONFLICT",
      `The presence targets of a connection can have at most ${LIMITS.subscriptionBytes} bytes of JSON together`,
    );
}
