/** Whose presence a socket has subscribed to, and which updates it therefore receives. */
import { AppError } from "../../platform/errors.ts";
import { byteLength } from "../../platform/text.ts";
import { JsonText } from "../protocol/frame.ts";
import { MAX_SUBSCRIPTION_BYTES, MAX_SUBSCRIPTIONS } from "../protocol/limits.ts";
import type { Connection, Joined } from "../transport/connection.ts";
import { send } from "../transport/connections.ts";
import type { Effect } from "../transport/effects.ts";

const ALL_USERS = "*";
const FOLLOWED_USERS = "following";

/** What a user shows now. */
export interface Update {
  readonly userId: string;
  /** The user's id and state as JSON: the same for all receivers. */
  readonly text: string;
}

/** `state` is JSON; null for none. */
export const updateOf = (userId: string, state: string | null): Update => ({
  userId,
  text: `[${JSON.stringify(userId)},${state ?? "null"}]`,
});

/** The users whom a user follows. */
type FollowedBy = (userId: string) => readonly string[];

export const presenceEvent = (updates: readonly Update[]) =>
  ({
    type: "event",
    event: "presence",
    data: new JsonText(`{"updates":[${updates.map(({ text }) => text).join()}]}`),
  }) as const;

/** Whether a socket is subscribed to a user. */
export function filterOf(
  { userId, subscriptions }: Joined,
  followedBy: FollowedBy,
): (other: string) => boolean {
  if (subscriptions.includes(ALL_USERS)) return () => true;
  const followed = subscriptions.includes(FOLLOWED_USERS) ? followedBy(userId) : [];
  const targets = new Set([...subscriptions, ...followed]);
  return (other) => targets.has(other);
}

/** One frame for each socket that is subscribed to one of the users, serialized once per distinct content. */
export function sendToSubscribers(
  updates: readonly Update[],
  connections: Iterable<Connection>,
  followedBy: FollowedBy,
): Effect[] {
  if (updates.length === 0) return [];
  const audiences = new Map<string, { readonly selected: readonly Update[]; readonly to: string[] }>();
  for (const connection of connections) {
    if (connection.phase !== "joined" || connection.subscriptions.length === 0) continue;
    const selected = select(updates, connection, followedBy);
    if (selected.length === 0) continue;
    const key =
      selected.length === updates.length ? ALL_USERS : selected.map(({ userId }) => userId).join("\n");
    const audience = audiences.get(key);
    if (audience === undefined) audiences.set(key, { selected, to: [connection.id] });
    else audience.to.push(connection.id);
  }
  return [...audiences.values()].map(({ selected, to }) => send(to, presenceEvent(selected)));
}

function select(updates: readonly Update[], connection: Joined, followedBy: FollowedBy): readonly Update[] {
  if (connection.subscriptions.includes(ALL_USERS)) return updates;
  const matches = filterOf(connection, followedBy);
  return updates.filter(({ userId }) => matches(userId));
}

/** CONFLICT for more targets than a connection can have. */
export function requireWithinLimits(subscriptions: readonly string[]): void {
  if (subscriptions.length > MAX_SUBSCRIPTIONS)
    throw new AppError(
      "Rooms",
      "CONFLICT",
      `A connection can have at most ${MAX_SUBSCRIPTIONS} presence targets`,
    );
  if (byteLength(JSON.stringify(subscriptions)) > MAX_SUBSCRIPTION_BYTES)
    throw new AppError(
      "Rooms",
      "CONFLICT",
      `The presence targets of a connection can have at most ${MAX_SUBSCRIPTION_BYTES} bytes of JSON together`,
    );
}
