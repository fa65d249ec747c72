/** Shows the part of the board that the camera sees, and moves the camera by the wheel. */
import { type RefObject, useEffect } from "react";
import type { Point } from "../room/shape.ts";
import type { Camera } from "./camera.ts";

/** What the first visitor sees, below the header and above the tools. */
export const FIRST_BOX = { x: -350, y: -250, width: 700, height: 500 };
const SIDE = 16;
/** On narrow screens, the panels are above and below each other. */
const panelHeights = () => (innerWidth > 960 ? { top: 76, bottom: 92 } : { top: 204, bottom: 150 });
const ZOOM_PER_PIXEL = 1.0025;

/** On a phone, things are smaller, but not so small that no one can hit them. */
const FARTHEST_AT_FIRST = 0.5;

export const pointOf = ({
  clientX,
  clientY,
}: {
  readonly clientX: number;
  readonly clientY: number;
}): Point => ({
  x: clientX,
  y: clientY,
});

/** The part of the window that no panel covers. */
export const freePart = () => {
  const { top, bottom } = panelHeights();
  return { x: SIDE, y: top, width: innerWidth - 2 * SIDE, height: innerHeight - top - bottom };
};

export function useView(camera: Camera, main: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const show = () => {
      const { x, y, zoom } = camera.view;
      const sizes = { "--x": `${x}px`, "--y": `${y}px`, "--zoom": zoom, "--grid": `${24 * zoom}px` };
      for (const [name, size] of Object.entries(sizes)) main.current?.style.setProperty(name, String(size));
    };
    const wheel = (event: WheelEvent) => {
      if (event.target instanceof HTMLTextAreaElement && event.target === document.activeElement) return;
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) camera.zoomAt(pointOf(event), ZOOM_PER_PIXEL ** -event.deltaY);
      else camera.pan({ x: -event.deltaX, y: -event.deltaY });
    };
    camera.fit(FIRST_BOX, freePart(), 1, FARTHEST_AT_FIRST);
    show();
    const element = main.current;
    element?.addEventListener("wheel", wheel, { passive: false });
    const stop = camera.subscribe(show);
    return () => {
      element?.removeEventListener("wheel", wheel);
      stop();
    };
  }, [camera, main]);
}
