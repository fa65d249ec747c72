/** The content of the board: the live things with the others' holds on them, or those of a past state. */
import { useStore } from "atrium/react";
import { createContext, type ReactNode, useContext, useMemo, useSyncExternalStore } from "react";
import { useOtherParticipants } from "../room/participants.ts";
import type { Point } from "../room/shape.ts";
import { type Box, boxOf, originOf, type PastBoard, type Things, thingsOf } from "../room/things.ts";
import type { Selection } from "./selection.ts";

/** Someone has selected a thing. */
interface Hold {
  /** The participant's color; null for this visitor. */
  readonly color: string | null;
  /** The distance by which the thing is dragged; null while it is not. */
  readonly by: Point | null;
}

interface Shown {
  readonly things: Things;
  readonly holds: ReadonlyMap<string, Hold>;
  /** A past state cannot be changed. */
  readonly isPast: boolean;
  /** The comments of a past state; null for the present ones. */
  readonly pastComments: PastBoard["comments"] | null;
  /** Moves the board as little as necessary for a point to be seen. */
  reveal(point: Point): void;
}

const ShownContext = createContext<Shown>({
  things: new Map(),
  holds: new Map(),
  isPast: false,
  pastComments: null,
  reveal: () => {},
});

/** The present content of the board, for everything that is drawn on it. */
export const useShown = (): Shown => useContext(ShownContext);

/** The box of a thing as it is shown, dragged or not; null if there is no such thing. */
export function shownBox({ things, holds }: Shown, id: string): Box | null {
  const thing = things.get(id);
  if (thing === undefined) return null;
  const { x, y, ...size } = boxOf(thing);
  const by = holds.get(id)?.by;
  return { x: x + (by?.x ?? 0), y: y + (by?.y ?? 0), ...size };
}

interface ContentProps {
  /** A past state to show instead of the present one. */
  readonly past: PastBoard | null;
  readonly selection: Selection;
  readonly reveal: Shown["reveal"];
  readonly children: ReactNode;
}

export function Content({ past, selection, reveal, children }: ContentProps) {
  const [notes] = useStore<unknown>("notes");
  const [shapes] = useStore<unknown>("shapes");
  const things = useMemo(() => thingsOf(past ?? { notes, shapes }), [past, notes, shapes]);
  const holds = useHolds(things, selection);
  const shown = useMemo(
    () => ({
      things,
      holds: past === null ? holds : new Map<string, Hold>(),
      isPast: past !== null,
      pastComments: past?.comments ?? null,
      reveal,
    }),
    [things, holds, past, reveal],
  );
  return <ShownContext value={shown}>{children}</ShownContext>;
}

/** This visitor's hold of a thing comes before those of others. */
function useHolds(things: Things, selection: Selection): ReadonlyMap<string, Hold> {
  const { ids, by } = useSyncExternalStore(selection.subscribe, () => selection.state);
  const holders = useOtherParticipants((others) =>
    others.flatMap(({ color, selection: ids, drag }) => (ids.length > 0 ? [{ color, ids, drag }] : [])),
  );
  return useMemo(() => {
    const holds = new Map<string, Hold>();
    for (const { color, ids, drag } of holders) {
      const first = things.get(ids[0] ?? "");
      const from = first && originOf(first);
      const by = drag && from ? { x: drag.x - from.x, y: drag.y - from.y } : null;
      for (const id of ids) holds.set(id, { color, by });
    }
    for (const id of ids) holds.set(id, { color: null, by });
    return holds;
  }, [holders, things, ids, by]);
}
