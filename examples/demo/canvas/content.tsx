/** The content of the board: its items, with the holds of all on them. */
import { useStore } from "atrium/react";
import { createContext, type ReactNode, useContext, useMemo, useSyncExternalStore } from "react";
import { type BoardItems, type Box, boxOf, itemsOf, originOf } from "../room/items.ts";
import { useOtherParticipants } from "../room/participants.ts";
import type { Point } from "../room/shape.ts";
import { Camera } from "./camera.ts";
import type { Selection } from "./selection.ts";

/** Someone has selected an item. */
interface Hold {
  /** The participant's color; null for this visitor. */
  readonly color: string | null;
  /** The distance by which the item is dragged; null while it is not. */
  readonly by: Point | null;
}

export interface Shown {
  readonly items: BoardItems;
  readonly holds: ReadonlyMap<string, Hold>;
  readonly camera: Camera;
}

const ShownContext = createContext<Shown>({
  items: new Map(),
  holds: new Map(),
  camera: new Camera(() => {}),
});

/** The content of the board, for everything that is drawn on it. */
export const useShown = (): Shown => useContext(ShownContext);

/** The box of an item as it is shown, dragged or not; null if there is no such item. */
export function shownBox({ items, holds }: Shown, id: string): Box | null {
  const item = items.get(id);
  if (item === undefined) return null;
  const { x, y, ...size } = boxOf(item);
  const by = holds.get(id)?.by;
  return { x: x + (by?.x ?? 0), y: y + (by?.y ?? 0), ...size };
}

interface ContentProps {
  readonly selection: Selection;
  readonly camera: Camera;
  readonly children: ReactNode;
}

export function Content({ selection, camera, children }: ContentProps) {
  const [notes] = useStore<unknown>("notes");
  const [shapes] = useStore<unknown>("shapes");
  const items = useMemo(() => itemsOf({ notes, shapes }), [notes, shapes]);
  const holds = useHolds(items, selection);
  const shown = useMemo(() => ({ items, holds, camera }), [items, holds, camera]);
  return <ShownContext value={shown}>{children}</ShownContext>;
}

/** This visitor's hold of an item comes before those of others. */
function useHolds(items: BoardItems, selection: Selection): ReadonlyMap<string, Hold> {
  const { ids, by } = useSyncExternalStore(selection.subscribe, () => selection.state);
  const holders = useOtherParticipants((others) =>
    others.flatMap(({ color, selection: ids, drag }) => (ids.length > 0 ? [{ color, ids, drag }] : [])),
  );
  return useMemo(() => {
    const holds = new Map<string, Hold>();
    for (const { color, ids, drag } of holders) {
      const first = items.get(ids[0] ?? "");
      const from = first && originOf(first);
      const by = drag && from ? { x: drag.x - from.x, y: drag.y - from.y } : null;
      for (const id of ids) holds.set(id, { color, by });
    }
    for (const id of ids) holds.set(id, { color: null, by });
    return holds;
  }, [holders, items, ids, by]);
}
