/** Where the pen that keys move is, and what keys do with it. */
import { useUpdateMyPresence } from "atrium/react";
import { useEffect, useSyncExternalStore } from "react";
import { type Presence, placeOf } from "../room/model.ts";
import type { KeyPen, PenState } from "./key-pen.ts";

interface PenProps {
  readonly pen: KeyPen;
}

const usePen = ({ pen }: PenProps): PenState | null => useSyncExternalStore(pen.subscribe, () => pen.state);

/** On the board; the others see a cursor there. */
export function KeyPenMark(props: PenProps) {
  const setPresence = useUpdateMyPresence<Presence>();
  const pen = usePen(props);
  useEffect(() => {
    if (pen === null) return;
    setPresence({ cursor: placeOf(pen.at) });
    return () => setPresence({ cursor: null });
  }, [pen, setPresence]);
  if (pen === null) return null;
  const { x, y } = pen.at;
  return (
    <div className={pen.isDown ? "pen down" : "pen"} style={{ transform: `translate(${x}px, ${y}px)` }} />
  );
}

export const KeyPenHint = (props: PenProps) => (
  <p className="pen-hint" role="status">
    {hintOf(usePen(props))}
  </p>
);

function hintOf(pen: PenState | null): string {
  if (pen === null) return "";
  const isEraser = pen.tool === "eraser";
  if (!pen.isDown) return `Arrow keys move the ${isEraser ? "eraser" : "pen"} · Space puts it down`;
  return isEraser ? "Arrow keys erase · Space lifts it" : "Arrow keys draw · Space ends · Escape discards";
}
