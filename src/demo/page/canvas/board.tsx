/** The board: notes, shapes and the others' cursors, on an endless surface. */
import { useRoom, useStoreActions, useUpdateMyPresence } from "atrium/react";
import { type DragEvent, type PointerEvent, useRef, useState } from "react";
import { Reactions } from "../panels/reactions.tsx";
import { MAX_NOTES, NOTE_SIZE, type Note, type Presence, placeOf } from "../room/model.ts";
import type { Point } from "../room/shape.ts";
import { Camera } from "./camera.ts";
import { Cursors } from "./cursors.tsx";
import { Gestures, type Tool } from "./gestures.ts";
import { useKeys } from "./keys.ts";
import { NoteCards } from "./note.tsx";
import { focusShape, Shapes } from "./shapes.tsx";
import { Toolbar } from "./toolbar.tsx";
import { useDrawing, useShapeSelection } from "./use-drawing.ts";
import { FIRST_BOX, freePart, pointOf, useView } from "./use-view.ts";

/** How far from a shape's line a pointer holds it, in pixels of the window: a finger is less exact. */
const reachOf = ({ pointerType }: PointerEvent) => (pointerType === "touch" ? 18 : 9);

const isOnNote = ({ target }: { readonly target: EventTarget }): boolean =>
  target instanceof Element && target.closest(".note") !== null;

export function Board() {
  const { client } = useRoom();
  const setPresence = useUpdateMyPresence<Presence>();
  const notes = useStoreActions<Note>("notes");
  const drawing = useDrawing();
  const selection = useShapeSelection();
  const [camera] = useState(() => new Camera());
  const [gestures] = useState(() => new Gestures(camera, drawing));
  const [tool, setTool] = useState<Tool>("move");
  const [tint, setTint] = useState(1);
  const main = useRef<HTMLElement>(null);
  gestures.tint = tint;

  const create = async (place: Point, picture = "") => {
    if (Object.keys(client.store("notes").getAll()).length >= MAX_NOTES)
      throw new Error("The board is full. Delete some notes first.");
    await notes.set(`${Date.now()}-${client.userId}`, { ...placeOf(place), text: "", picture });
  };
  const add = () => {
    const part = freePart();
    const step = (Object.keys(client.store("notes").getAll()).length % 5) * 24;
    const middle = camera.toBoard({ x: part.x + part.width / 2, y: part.y + part.height / 2 });
    setTool("move");
    return create({ x: middle.x - NOTE_SIZE.width / 2 + step, y: middle.y - NOTE_SIZE.height / 2 + step });
  };
  const drop = async (event: DragEvent) => {
    event.preventDefault();
    const place = camera.toBoard(pointOf(event));
    for (const file of event.dataTransfer.files)
      await create(place, (await client.storage.upload({ file })).key);
  };
  useKeys({ camera, history: client.history, choose: setTool, add });
  useView(camera, main);

  const reveal = (point: Point) => camera.reveal(point, freePart());
  const press = (event: PointerEvent) => {
    if (!event.isPrimary) selection.release(false);
    if (isOnNote(event) || event.button > 1) {
      gestures.press(event, null);
      return;
    }
    event.currentTarget.setPointerCapture(event.pointerId);
    const mayHold = tool === "move" && event.button === 0 && event.isPrimary;
    const held = mayHold
      ? selection.press(camera.toBoard(pointOf(event)), reachOf(event) / camera.view.zoom)
      : null;
    if (held !== null) focusShape(held);
    else if (document.activeElement instanceof HTMLElement || document.activeElement instanceof SVGElement)
      document.activeElement.blur();
    gestures.press(event, held !== null ? null : event.button === 1 ? "move" : tool);
  };
  const release = (event: PointerEvent) => {
    selection.release(event.type === "pointerup");
    gestures.release(event);
  };
  return (
    <>
      <main
        ref={main}
        data-tool={tool}
        onPointerDown={press}
        onPointerMove={(event) => {
          const at = camera.toBoard(pointOf(event));
          setPresence({ cursor: placeOf(at) });
          selection.move(at);
          gestures.move(event);
        }}
        onPointerUp={release}
        onPointerCancel={release}
        // The focus is where a press has put it.
        onMouseDown={(event) => isOnNote(event) || event.preventDefault()}
        onPointerLeave={() => setPresence({ cursor: null })}
        onDragOver={(event) => event.preventDefault()}
        onDrop={drop}
      >
        <div className="sheet">
          <NoteCards camera={camera} />
          <Shapes selection={selection} reveal={reveal} />
          <Cursors reveal={reveal} />
        </div>
      </main>
      <Toolbar {...{ tool, setTool, tint, setTint, camera }} fit={() => camera.fit(FIRST_BOX, freePart())} />
      <nav aria-label="Notes and reactions">
        <button type="button" className="primary" onClick={add}>
          Add note
        </button>
        <Reactions />
      </nav>
    </>
  );
}
