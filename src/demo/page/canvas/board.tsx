/** The board: notes, shapes and the others' cursors, on an endless surface. */
import { useOther, useOthers, useRoom, useStoreActions, useUpdateMyPresence } from "atrium/react";
import { type DragEvent, type PointerEvent, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { Reactions } from "../panels/reactions.tsx";
import { NOTE_SIZE, type Note, type Presence, placeOf, readParticipant } from "../room/model.ts";
import { useFollowedId } from "../room/participants.ts";
import type { Point } from "../room/shape.ts";
import { Camera } from "./camera.ts";
import { Gestures, type Tool } from "./gestures.ts";
import { KeyboardPen, type PenState } from "./keyboard-pen.ts";
import { useKeys } from "./keys.ts";
import { NoteCards } from "./note.tsx";
import { Shapes, useDrawing } from "./shapes.tsx";
import { Toolbar } from "./toolbar.tsx";

/** The pen for keys: its position and its actions. */
interface PenProps {
  readonly pen: KeyboardPen;
}

const usePen = ({ pen }: PenProps): PenState | null => useSyncExternalStore(pen.subscribe, () => pen.state);

/** On the board; the others see a cursor there. */
function KeyPenMark(props: PenProps) {
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

const KeyPenHint = (props: PenProps) => (
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

/** The hint for the first visitor, between the header and the tools. */
const FIRST_BOX = { x: -350, y: -250, width: 700, height: 500 };
const SIDE = 16;
/** On narrow screens, the panels are above and below each other. */
const panelHeights = () => (innerWidth > 960 ? { top: 76, bottom: 92 } : { top: 204, bottom: 150 });
const ZOOM_PER_PIXEL = 1.0025;
/** On a phone, things are smaller, but not so small that no one can hit them. */
const FARTHEST_AT_FIRST = 0.5;

const pointOf = ({ clientX, clientY }: { readonly clientX: number; readonly clientY: number }): Point => ({
  x: clientX,
  y: clientY,
});

/** The part of the window that no panel covers. */
const freePart = () => {
  const { top, bottom } = panelHeights();
  return { x: SIDE, y: top, width: innerWidth - 2 * SIDE, height: innerHeight - top - bottom };
};

/** Bounds of a board, which is for a day and a few people. */
const MAX_NOTES = 100;

export function Board() {
  const { client } = useRoom();
  const setPresence = useUpdateMyPresence<Presence>();
  const notes = useStoreActions<Note>("notes");
  const drawing = useDrawing();
  const [camera] = useState(() => new Camera());
  const [gestures] = useState(() => new Gestures(camera, drawing));
  const [pen] = useState(() => new KeyboardPen(camera, gestures, freePart));
  const [tool, setTool] = useState<Tool>("move");
  const [tint, setTint] = useState(1);
  const main = useRef<HTMLElement>(null);
  gestures.tint = tint;
  const choose = (next: Tool) => {
    pen.take(next);
    setTool(next);
  };

  const create = async (place: Point, picture = "") => {
    if (Object.keys(client.store("notes").getAll()).length >= MAX_NOTES)
      throw new Error("The board is full. Delete some notes first.");
    await notes.set(`${Date.now()}-${client.userId}`, { ...placeOf(place), text: "", picture });
  };
  const add = () => {
    const part = freePart();
    const step = (Object.keys(client.store("notes").getAll()).length % 5) * 24;
    const middle = camera.toBoard({ x: part.x + part.width / 2, y: part.y + part.height / 2 });
    choose("move");
    return create({ x: middle.x - NOTE_SIZE.width / 2 + step, y: middle.y - NOTE_SIZE.height / 2 + step });
  };
  const drop = async (event: DragEvent) => {
    event.preventDefault();
    const place = camera.toBoard(pointOf(event));
    for (const file of event.dataTransfer.files)
      await create(place, (await client.storage.upload({ file })).key);
  };
  useKeys({ camera, history: client.history, pen, choose, add });
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
  }, [camera]);

  const press = (event: PointerEvent) => {
    pen.hide();
    const isOnNote = event.target instanceof Element && event.target.closest(".note") !== null;
    if (isOnNote || event.button > 1) {
      gestures.press(event, null);
      return;
    }
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    event.currentTarget.setPointerCapture(event.pointerId);
    gestures.press(event, event.button === 1 ? "move" : tool);
  };
  return (
    <>
      <main
        ref={main}
        data-tool={tool}
        onPointerDown={press}
        onPointerMove={(event) => {
          setPresence({ cursor: placeOf(camera.toBoard(pointOf(event))) });
          gestures.move(event);
        }}
        onPointerUp={(event) => gestures.release(event)}
        onPointerCancel={(event) => gestures.release(event)}
        onPointerLeave={() => setPresence({ cursor: null })}
        onDragOver={(event) => event.preventDefault()}
        onDrop={drop}
      >
        <div className="sheet">
          <NoteCards camera={camera} />
          <Shapes />
          <KeyPenMark pen={pen} />
          <Cursors reveal={(point) => camera.reveal(point, freePart())} />
        </div>
      </main>
      <Toolbar {...{ tool, choose, tint, setTint, camera }} fit={() => camera.fit(FIRST_BOX, freePart())} />
      <KeyPenHint pen={pen} />
      <nav aria-label="Notes and reactions">
        <button type="button" className="primary" onClick={add}>
          Add note
        </button>
        <Reactions />
      </nav>
    </>
  );
}

/** The cursors of the others; that of the one whom this user follows stays in view. */
type Reveal = (point: Point) => void;

function Cursors({ reveal }: { readonly reveal: Reveal }) {
  const ids = useOthers((others) => others.map(({ user }) => user.id));
  return ids.map((id) => <Cursor key={id} id={id} reveal={reveal} />);
}

function Cursor({ id, reveal }: { readonly id: string; readonly reveal: Reveal }) {
  const other = useOther(id);
  const isFollowed = useFollowedId() === id;
  const { cursor, name, color } = other ? readParticipant(other) : { cursor: null, name: "", color: "" };
  useEffect(() => {
    if (isFollowed && cursor !== null) reveal(cursor);
  });
  return (
    <div
      className="cursor"
      hidden={cursor === null}
      style={{ transform: `translate(${cursor?.x}px, ${cursor?.y}px)`, color }}
    >
      <span>{isFollowed ? `Following ${name}` : name}</span>
    </div>
  );
}
