/** `atrium/tldraw`: comments pinned to the pages and shapes of a canvas, tldraw's or your own, with `atrium/react-ui/styles.css`. */
"use client";

export { anchorAt, type CanvasAnchor, type CanvasEditor } from "./anchor.ts";
export { type ActiveComment, CommentPins } from "./comment-pins.tsx";
export { type CanvasPin, useCanvasPins } from "./use-canvas-pins.ts";
