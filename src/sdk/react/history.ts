/** Hooks that undo and redo your own changes of stores. */
import { useCallback } from "react";
import { useRoomHandle } from "./context.ts";
import { useSelection } from "./selection.ts";

/** Returns a function that undoes your latest step, and returns whether anything has changed. */
export function useUndo(): () => boolean {
  const { history } = useRoomHandle().client;
  return useCallback(() => history.undo(), [history]);
}

/** Returns a function that redoes the step that you undid last, and returns whether anything has changed. */
export function useRedo(): () => boolean {
  const { history } = useRoomHandle().client;
  return useCallback(() => history.redo(), [history]);
}

/** Whether there are changes of yours to undo, for a button. */
export const useCanUndo = (): boolean => useSelection(useRoomHandle().history, ({ canUndo }) => canUndo);

/** Whether there are changes of yours to redo, for a button. */
export const useCanRedo = (): boolean => useSelection(useRoomHandle().history, ({ canRedo }) => canRedo);
