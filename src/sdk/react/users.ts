/** Hooks for the users who are online, and their presence. */
import { useMemo } from "react";
import { useRoomHandle } from "./context.ts";
import type { Equality } from "./equality.ts";
import type { Member } from "./members.ts";
import { useSelection, whole } from "./selection.ts";

/**
 * All other users who are online, in the order in which they joined, or what `select` makes of them. The component
 * renders again only when that is no longer equal: by default, when it is another value or has another element.
 */
export function useOthers(): readonly Member[];
export function useOthers<Selected>(
  select: (others: readonly Member[]) => Selected,
  isEqual?: Equality<Selected>,
): Selected;
export function useOthers(
  select: (others: readonly Member[]) => unknown = whole,
  isEqual?: Equality<unknown>,
): unknown {
  return useSelection(useRoomHandle().others, select, isEqual);
}

/** One of {@link useOthers}, or what `select` makes of it; null while this user is not online. */
export function useOther(userId: string): Member | null;
export function useOther<Selected>(
  userId: string,
  select: (other: Member) => Selected,
  isEqual?: Equality<Selected>,
): Selected | null;
export function useOther(
  userId: string,
  select: (other: Member) => unknown = whole,
  isEqual?: Equality<unknown>,
): unknown {
  const selectOther = useMemo(
    () => (others: readonly Member[]) => {
      const other = others.find(({ user }) => user.id === userId);
      return other === undefined ? null : select(other);
    },
    [select, userId],
  );
  return useSelection(useRoomHandle().others, selectOther, isEqual);
}
