/** The hook for yourself, as the others see you. */
import { useMemo } from "react";
import { useRoomHandle } from "./context.ts";
import type { Equality } from "./equality.ts";
import type { Member } from "./members.ts";
import { useSelection, whole } from "./selection.ts";

/** Yourself as the others see you, or what `select` makes of it; null until the room was joined. */
export function useSelf(): Member | null;
export function useSelf<Selected>(
  select: (self: Member) => Selected,
  isEqual?: Equality<Selected>,
): Selected | null;
export function useSelf(select: (self: Member) => unknown = whole, isEqual?: Equality<unknown>): unknown {
  const selectSelf = useMemo(() => (self: Member | null) => self && select(self), [select]);
  return useSelection(useRoomHandle().self, selectSelf, isEqual);
}
