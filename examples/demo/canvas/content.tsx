/** The content of the board: its items, with the holds of all on them. */
import { useStore } from "atrium/react";
import { createContext, type ReactNode, useContext, useMemo, useSyncExternalStore } from "react";
import { type BoardItems, type Box, boxOf, isNote, itemsOf, originOf } from "../room/items.ts";
import { useOtherParticipants } from "../room/participants.ts";
import type { Point } from "../room/shape.ts";
import { Camera } from "./camera.ts";
import type { Selection } from "./selection.ts";

/** Someone has selected an item, or writes in it. */
export interface Hold {
  /** The participant's color; null for this visitor. */
  readonly color: string | null;
  /** The distance by which the item is dragged; null while it is not. */
  readonly by: Point | null;
  /** The width of the note while it is changed. */
  readonly width: number | null;
  /** The other participants here, in the color of the last one. */
  readonly flag: {
    readonly text: string;
    readonly color: string;
    readonly userIds: readonly string[];
  } | null;
}

export interface Shown {
  readonly items: BoardItems;
  readonly holds: ReadonlyMap<string, Hold>;
  readonly camera: Camera;
  /** Until the notes of the room have come. */
  readonly isLoading: boolean;
}

const ShownContext = createContext<Shown>({
  items: new Map(),
  holds: new Map(),
  camera: new Camera(() => {}),
  isLoading: true,
});

/** The content of the board, for everything that is drawn on it. */
export const useShown = (): Shown => useContext(ShownContext);

/** The box of an item as it is shown, dragged or not; null if there is no such item. */
export function shownBox({ items, holds }: Shown, id: string): Box | null {
  const item = items.get(id);
  if (item === undefined) return null;
  const { by, width = null } = holds.get(id) ?? {};
  const { x, y, ...size } = boxOf(width !== null && isNote(item) ? { ...item, width } : item);
  return { x: x + (by?.x ?? 0), y: y + (by?.y ?? 0), ...size };
}

interface ContentProps {
  readonly selection: Selection;
  readonly camera: Camera;
  readonly children: ReactNode;
}

export function Content({ selection, camera, children }: ContentProps) {
  const [notes, , { isLoading }] = useStore<unknown>("notes");
  const [shapes] = useStore<unknown>("shapes");
  const items = useMemo(() => itemsOf({ notes, shapes }), [notes, shapes]);
  const holds = useHolds(items, selection);
  const shown = useMemo(() => ({ items, holds, camera, isLoading }), [items, holds, camera, isLoading]);
  return <ShownContext value={shown}>{children}</ShownContext>;
}

/** This visitor's hold of an item is shown before those of others. */
function useHolds(items: BoardItems, selection: Selection): ReadonlyMap<string, Hold> {
  const { ids, by, width } = useSyncExternalStore(selection.subscribe, () => selection.state);
  const holders = useOtherParticipants((others) =>
    others.flatMap(({ id, name, color, selection: ids, drag, width, typing }) =>
      ids.length > 0 || typing !== "" ? [{ userId: id, name, color, ids, drag, width, typing }] : [],
    ),
  );
  return useMemo(() => {
    const holds = new Map<string, Hold>();
    for (const { userId, name, color, ids, drag, width, typing } of holders) {
      const first = items.get(ids[0] ?? "");
      const from = first && originOf(first);
      const by = drag && from ? { x: drag.x - from.x, y: drag.y - from.y } : null;
      for (const id of ids) holds.set(id, { color, by, width, flag: holds.get(id)?.flag ?? null });
      const flagged = typing || ids[0];
      if (flagged === undefined) continue;
      const { flag, ...held } = holds.get(flagged) ?? { by: null, width: null, flag: null };
      const text = `${flag ? `${flag.text}, ` : ""}${name}${typing ? " is typing" : ""}`;
      holds.set(flagged, {
        ...held,
        color,
        flag: { text, color, userIds: [...(flag?.userIds ?? []), userId] },
      });
    }
    for (const id of ids) {
      const other = holds.get(id);
      const flag = other?.flag ?? null;
      holds.set(id, { color: null, by: by ?? other?.by ?? null, width: width ?? other?.width ?? null, flag });
    }
    return holds;
  }, [holders, items, ids, by, width]);
}
