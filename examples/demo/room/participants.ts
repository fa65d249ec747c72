/** The participants as components read them, and what this one may do: each renders again only when that has changed. */
import type { Resource } from "atrium/client";
import { type RoomClient, useOthers, useRoomPermissions, useUpdateMyPresence } from "atrium/react";
import { useEffect, useMemo, useRef } from "react";
import { type Participant, type Presence, readParticipant } from "./model.ts";

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The selection of `select` from all others. */
export const useOtherParticipants = <Selected>(
  select: (others: readonly Participant[]) => Selected,
): Selected => useOthers((others) => select(others.map(readParticipant)), isSame);

const PAUSE_MS = 2_000;

/** Shows the others that this user writes here, until a pause or the returned function's call without text. */
export function useTyping(where: string): { typed(): void; ended(): void } {
  const show = useUpdateMyPresence<Presence>();
  const pause = useRef(0);
  const ended = () => {
    clearTimeout(pause.current);
    show({ typing: null });
  };
  useEffect(() => () => clearTimeout(pause.current), []);
  const typed = () => {
    clearTimeout(pause.current);
    show({ typing: where });
    pause.current = window.setTimeout(ended, PAUSE_MS);
  };
  return { typed, ended };
}

/** The users who write now, as a line of text for each place. */
export function useTypistsByPlace(): ReadonlyMap<string, string> {
  const typists = useOtherParticipants((others) =>
    others.filter(({ typing }) => typing !== "").map(({ name, typing }) => ({ name, typing })),
  );
  return useMemo(() => {
    const places = Map.groupBy(typists, ({ typing }) => typing);
    return new Map(
      [...places].map(([where, [first, ...rest]]) => [
        where,
        rest.length === 0 ? `${first?.name} is typing` : `${rest.length + 1} are typing`,
      ]),
    );
  }, [typists]);
}

/** Whether the visitor may change this part of the board; until the board was joined, it looks as if. */
export function useMayWrite(resource: Resource): boolean {
  const { permissions, canWrite } = useRoomPermissions();
  return permissions.length === 0 || canWrite(resource);
}

/** The visitor's access in a word; null until the board was joined. */
export function useLevel(): "edit" | "comment" | "view" | null {
  const { permissions, canWrite } = useRoomPermissions();
  if (permissions.length === 0) return null;
  if (canWrite("stores")) return "edit";
  return canWrite("comments") ? "comment" : "view";
}

let ending: Promise<void> | null = null;
async function endFollowing({ userId, users }: RoomClient): Promise<void> {
  for (const followed of users.get({ userId })?.following ?? [])
    await users.get({ userId: followed })?.unfollow();
}

/** Follows no one any more: who moves the board looks for themselves. */
export function unfollowAll(client: RoomClient): Promise<void> {
  ending ??= endFollowing(client).finally(() => {
    ending = null;
  });
  return ending;
}
