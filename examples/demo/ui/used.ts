/** The feature that the visitor has used last, of which the drawer shows the code. */
import { useRoom, useSelf } from "atrium/react";
import { useEffect, useSyncExternalStore } from "react";

/** What a visitor can use on the board. */
export type Feature =
  | "Join"
  | "Cursors"
  | "Notes"
  | "Drawing"
  | "Comments"
  | "Reactions"
  | "Following"
  | "Undo"
  | "Access";

let latest: Feature = "Cursors";
const listeners = new Set<() => void>();

export function used(feature: Feature): void {
  latest = feature;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useLatestFeature = (): Feature => useSyncExternalStore(subscribe, () => latest);

const STORES = { notes: "Notes", shapes: "Drawing" } as const;

/** Notices what reaches the room by more than one way: notes, shapes, comments, and whom the visitor follows. */
export function useNoticed(): void {
  const { client } = useRoom();
  const follows = useSelf(({ user }) => user.following.length > 0) === true;
  useEffect(() => {
    if (follows) used("Following");
  }, [follows]);
  useEffect(() => {
    const stops = Object.entries(STORES).map(([name, feature]) => {
      const store = client.store(name);
      return store.on("updated", () => store.unconfirmed.length > 0 && used(feature));
    });
    stops.push(client.comments.on("created", ({ user_id }) => user_id === client.userId && used("Comments")));
    return () => {
      for (const stop of stops) stop();
    };
  }, [client]);
}
