/** The threads of the room that are pinned to the page that the editor shows, and where they are on the screen. */
import { useMemo } from "react";
import type { Comment } from "../client/index.ts";
import { ExternalSource, shallowEqual } from "../react/external-source.ts";
import { useComments } from "../react/index.ts";
import { useSource } from "../react/room-handle.ts";
import {
  type CanvasAnchor,
  type CanvasEditor,
  type Point,
  placeOf,
  readAnchor,
  type Size,
} from "./anchor.ts";

/** A thread on the canvas. The same object until it changes or moves. */
export interface CanvasPin {
  readonly threadId: string;
  /** The comment that started the thread. */
  readonly first: Comment;
  /** The number of comments in it. */
  readonly comments: number;
  readonly anchor: CanvasAnchor;
  /** The place in pixels from the left top corner of the canvas, which can be outside of it. */
  readonly x: number;
  readonly y: number;
}

type Thread = Omit<CanvasPin, "x" | "y">;

function pinnedThreads(comments: readonly Comment[], resolved: boolean): readonly Thread[] {
  const counts = new Map<string, number>();
  for (const { thread_id } of comments) counts.set(thread_id, (counts.get(thread_id) ?? 0) + 1);
  return comments.flatMap((first) => {
    const anchor = first.id === first.thread_id ? readAnchor(first.anchor) : null;
    if (anchor === null || (first.resolved && !resolved)) return [];
    return { threadId: first.id, first, comments: counts.get(first.id) ?? 1, anchor };
  });
}

const watching = (editor: CanvasEditor) => (changed: () => void) => {
  editor.on("change", changed);
  return () => void editor.off("change", changed);
};

/** The place of an anchor on the screen; null without one, and on another page. Renders when it moves. */
export function usePlace(editor: CanvasEditor, anchor: CanvasAnchor | null): Point | null {
  const source = useMemo(() => {
    const compute = () => (anchor === null ? null : placeOf(editor, anchor));
    return new ExternalSource<Point | null>(watching(editor), compute, null);
  }, [editor, anchor]);
  return useSource(source);
}

/** The size of the canvas. Renders when it changes. */
export function useSize(editor: CanvasEditor): Size {
  const source = useMemo(() => {
    const compute = () => {
      const { w, h } = editor.getViewportScreenBounds();
      return { w, h };
    };
    return new ExternalSource<Size>(watching(editor), compute, { w: 0, h: 0 });
  }, [editor]);
  return useSource(source);
}

/**
 * Threads on the current page, where the camera shows them, for pins of your own; `resolved` includes resolved
 * ones. Renders when a thread changes, and when a pin moves on the screen.
 */
export function useCanvasPins(
  editor: CanvasEditor,
  { resolved = false }: { readonly resolved?: boolean | undefined } = {},
): readonly CanvasPin[] {
  const [comments] = useComments();
  const source = useMemo(() => {
    const threads = pinnedThreads(comments, resolved);
    let shown: readonly CanvasPin[] = [];
    const compute = () => {
      const before = new Map(shown.map((pin) => [pin.threadId, pin]));
      shown = threads.flatMap((thread) => {
        const place = placeOf(editor, thread.anchor);
        if (place === null) return [];
        const pin = { ...thread, ...place };
        const same = before.get(pin.threadId);
        return shallowEqual(same, pin) && same !== undefined ? same : pin;
      });
      return shown;
    };
    return new ExternalSource<readonly CanvasPin[]>(watching(editor), compute, []);
  }, [editor, comments, resolved]);
  return useSource(source);
}
