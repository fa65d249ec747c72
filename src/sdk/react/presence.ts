/** Hooks for your own presence. */
import { useCallback } from "react";
import type { PresenceIn, PresencePart, PresenceState, Registered } from "../client/index.ts";
import { useRoomHandle } from "./context.ts";
import { useSource } from "./selection.ts";

/** Changes some fields of what you show and keeps the others; null removes all of it. */
export type UpdatePresence<Shown extends object> = (part: PresencePart<Shown> | null) => void;

/** What users show, as the application has registered it. */
type RegisteredPresence = PresenceIn<Registered>;

/**
 * What you show, empty at first, and a function that changes some of its fields. Changes are visible here at once, and
 * sent at most every 50 ms. Fields that would take the whole above 8 KiB stay as they were, and are reported.
 */
export const useMyPresence = <Shown extends object = RegisteredPresence>(): [
  Readonly<Partial<Shown>>,
  UpdatePresence<Shown>,
] => [shownAs<Shown>(useSource(useRoomHandle().ownPresence)), useUpdateMyPresence<Shown>()];

/** The function of {@link useMyPresence} alone, for a component that does not read what you show. */
export function useUpdateMyPresence<Shown extends object = RegisteredPresence>(): UpdatePresence<Shown> {
  const { presence } = useRoomHandle().client;
  return useCallback((part) => presence.update(part), [presence]);
}

/** Only the function writes it, with this type. */
const shownAs = <Shown extends object>(state: PresenceState) => state as Readonly<Partial<Shown>>;
