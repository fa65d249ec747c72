/** The participants as components read them, and what this one may do: each renders again only when that has changed. */
import { PERSON_COLORS } from "@atrium/contract/person-colors.ts";
import type { Resource } from "atrium/client";
import { type RoomClient, useOthers, useRoomPermissions, useSelf, useUpdateMyPresence } from "atrium/react";
import { useEffect, useRef, useState } from "react";
import { type Participant, type Presence, readParticipant } from "./model.ts";
import { seat } from "./visitor.ts";

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The selection of `select` from all others. */
export const useOtherParticipants = <Selected>(
  select: (others: readonly Participant[]) => Selected,
): Selected => useOthers((others) => select(others.map(readParticipant)), isSame);

/** The color that the visitor has chosen, which a reload keeps. */
const CHOSEN = "color";

/** The windows of the front page have the colors of their titles. */
const OF_SEAT: ReadonlyMap<string, string> = new Map([
  ["first", PERSON_COLORS[0]],
  ["second", PERSON_COLORS[1]],
]);

/**
 * This visitor's color, and a function that changes it. It is the first one that no one else has, until they choose
 * one: of two who have the same at once, the one with the lower ID keeps it.
 */
export function useOwnColor(): readonly [color: string | null, choose: (color: string) => void] {
  const show = useUpdateMyPresence<Presence>();
  const id = useSelf(({ user }) => user.id);
  const taken = useOtherParticipants((others) => others.map(({ id, color }) => ({ id, color })));
  const [chosen, setChosen] = useState(() => sessionStorage.getItem(CHOSEN));
  const [given, setGiven] = useState<string | null>(null);
  const color = OF_SEAT.get(seat) ?? chosen ?? given;
  useEffect(() => {
    if (id === null) return;
    const isKept = given !== null && taken.every((other) => other.color !== given || other.id > id);
    if (!isKept)
      setGiven(PERSON_COLORS.find((free) => taken.every((other) => other.color !== free)) ?? given);
  }, [id, taken, given]);
  useEffect(() => {
    if (color !== null) show({ color });
  }, [color, show]);
  const choose = (next: string) => {
    sessionStorage.setItem(CHOSEN, next);
    setChosen(next);
  };
  return [color, choose];
}

const PAUSE_MS = 2_000;

/** Shows the others that this user writes here, until a pause or the returned function's call without text. */
export function useTyping(where: string): { typed(): void; ended(): void } {
  const show = useUpdateMyPresence<Presence>();
  const pause = useRef(0);
  const ended = () => {
    clearTimeout(pause.current);
    show({ typing: null });
  };
  const typed = () => {
    clearTimeout(pause.current);
    show({ typing: where });
    pause.current = window.setTimeout(ended, PAUSE_MS);
  };
  return { typed, ended };
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
