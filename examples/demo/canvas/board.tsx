/** The board: notes, shapes and the others' cursors, on an endless surface. */

import { useRoom } from "atrium/react";
import { Cursors } from "atrium/react-ui";
import {
  type DragEvent,
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { boxAround, boxOf, isNote, itemAt } from "../room/items.ts";
import { NOTE_SIZE, placeOf } from "../room/model.ts";
import { unfollowAll, useMayWrite } from "../room/participants.ts";
import type { Kind, Point } from "../room/shape.ts";
import { Camera, freeMiddle, freePart } from "./camera.ts";
import { Content } from "./content.tsx";
import { Edits } from "./edits.ts";
import { Gestures, pointOf, type Tool } from "./gestures.ts";
import { useKeys } from "./keys.ts";
import { NoteCards } from "./note.tsx";
import { Reactions } from "./reactions.tsx";
import { Selection } from "./selection.ts";
import { Shapes } from "./shapes.tsx";
import { Toolbar, Zoom } from "./toolbar.tsx";

/** The hint for the first visitor, between the header and the tools. */
const FIRST_BOX = { x: -350, y: -250, width: 700, height: 500 };
const ZOOM_PER_PIXEL = 1.0025;
/** On a phone, items are smaller, but not so small that no one can hit them. */
const FARTHEST_AT_FIRST = 0.5;
/** The size of a shape that is added by keyboard. */
const SHAPE_SIZE = { width: 160, height: 100 };

/** Text that is being written, and buttons of a note: a press there is no matter of the board. */
const isOutside = (target: EventTarget): boolean =>
  target instanceof Element && target.closest("button:not(.grip), textarea:focus") !== null;

/** The children lie above the board, and can read its content. */
export function Board({ children }: { readonly children: ReactNode }) {
  const { client } = useRoom();
  const [tool, setTool] = useState<Tool>("select");
  const [isPanning, setPanning] = useState(false);
  const [tint, setTint] = useState(1);
  const main = useRef<HTMLElement>(null);
  const pressedText = useRef<HTMLTextAreaElement | null>(null);
  const { camera, edits, selection, gestures } = useMemo(() => {
    const camera = new Camera(() => void unfollowAll(client));
    const edits = new Edits(client);
    const selection = new Selection(client);
    const gestures = new Gestures({ camera, edits, selection, history: client.history });
    return { camera, edits, selection, gestures };
  }, [client]);
  gestures.tint = tint;
  const [mayEdit, mayBroadcast] = [useMayWrite("stores"), useMayWrite("broadcasts")];
  const isFixed = !mayEdit;
  const toolInUse = isPanning || isFixed ? "hand" : tool;
  const choose = (next: Tool) => {
    gestures.cancel();
    if (document.activeElement instanceof HTMLTextAreaElement) document.activeElement.blur();
    if (next !== "select") selection.select([]);
    setTool(next);
  };

  const addAt = ({ x, y }: Point, picture = "") =>
    edits.addNote({ x: x - NOTE_SIZE.width / 2, y: y - NOTE_SIZE.height / 2 }, picture);
  const add = async () => {
    const step = ([...edits.items.values()].filter(isNote).length % 5) * 24;
    const { x, y } = camera.toBoard(freeMiddle());
    choose("select");
    await addAt({ x: x + step, y: y + step });
  };
  const drop = async (event: DragEvent) => {
    event.preventDefault();
    if (isFixed) return;
    const place = camera.toBoard(pointOf(event));
    for (const file of event.dataTransfer.files)
      await edits.addNote(place, (await client.storage.upload({ file })).key);
  };
  const insert = (kind: Kind) => {
    const { x, y } = camera.toBoard(freeMiddle());
    const { width, height } = SHAPE_SIZE;
    const corners = [x - width / 2, y - height / 2, x + width / 2, y + height / 2];
    choose("select");
    void edits.addShape({ kind, tint, points: corners.map(Math.round) }).then((id) => selection.select([id]));
  };
  const act = (): boolean => {
    if (isFixed) return false;
    if (tool !== "select" && tool !== "hand" && tool !== "eraser") {
      insert(tool);
      return true;
    }
    const [id] = selection.state.ids;
    const text = main.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(id ?? "")}"] textarea`);
    text?.focus();
    return text !== undefined && text !== null;
  };
  const zoomTo = (zoom: number | "fit") => {
    const around = boxAround([...edits.items.values()].map(boxOf));
    if (zoom === "fit") camera.fit(around ?? FIRST_BOX, freePart());
    else camera.zoomAt(freeMiddle(), zoom / camera.view.zoom);
  };
  const zoomBy = (factor: number) => camera.zoomAt(freeMiddle(), factor);
  const cancel = () => gestures.cancel();
  useKeys({
    camera,
    edits,
    history: client.history,
    selection,
    isFixed,
    choose,
    add,
    zoomTo,
    zoomBy,
    setPanning,
    act,
    cancel,
  });

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

  useEffect(() => {
    if (!isFixed) return;
    gestures.cancel();
    if (document.activeElement?.matches(".note textarea")) (document.activeElement as HTMLElement).blur();
  }, [isFixed, gestures]);

  const press = (event: PointerEvent<HTMLElement>) => {
    const { target, button, pointerType } = event;
    if (isOutside(target) || button > 1) return gestures.press(event, null);
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    pressedText.current = target instanceof HTMLTextAreaElement ? target : null;
    event.currentTarget.setPointerCapture(event.pointerId);
    const note = target instanceof Element ? target.closest<HTMLElement>(".note") : null;
    gestures.press(event, {
      tool: button === 1 ? "hand" : toolInUse,
      noteId: note?.dataset.item ?? null,
      isAdding: event.shiftKey,
      isTouch: pointerType === "touch",
    });
  };
  const release = (event: PointerEvent) => {
    const isClick = gestures.release(event);
    if (isClick && toolInUse === "select" && !event.shiftKey) pressedText.current?.focus();
  };
  const addBelow = (event: MouseEvent) => {
    const place = camera.toBoard(pointOf(event));
    if (toolInUse === "select" && itemAt(edits.items, place, 0) === null) void addAt(place);
  };
  return (
    <>
      <Content selection={selection} camera={camera}>
        <BoardCursors camera={camera}>
          <main
            ref={main}
            data-tool={toolInUse}
            onPointerDown={press}
            onMouseDown={(event) => isOutside(event.target) || event.preventDefault()}
            onPointerMove={(event) => gestures.move(event)}
            onPointerUp={release}
            onPointerCancel={release}
            onDoubleClick={addBelow}
            onFocus={({ target }) => {
              const id = target.matches(".grip") && target.closest<HTMLElement>(".note")?.dataset.item;
              if (id) selection.select([id]);
            }}
            onDragOver={(event) => event.preventDefault()}
            onDrop={drop}
          >
            <div className="sheet">
              <NoteCards />
              <Shapes selection={selection} />
            </div>
          </main>
        </BoardCursors>
        {children}
      </Content>
      {isFixed || (
        <>
          <Toolbar {...{ tool, choose, tint, setTint }} />
          <SelectionCount selection={selection} />
        </>
      )}
      <Zoom camera={camera} zoomTo={zoomTo} zoomBy={zoomBy} />
      <nav aria-label="Notes and reactions">
        {mayEdit && (
          <button type="button" className="primary" onClick={add}>
            Add note
          </button>
        )}
        <Reactions mayReact={mayBroadcast} />
      </nav>
    </>
  );
}

interface BoardCursorsProps {
  readonly camera: Camera;
  readonly children: ReactNode;
}

/** The board with the cursors of the others, of which the one that this visitor follows stays in view. */
function BoardCursors({ camera, children }: BoardCursorsProps) {
  const view = useSyncExternalStore(camera.subscribe, () => camera.view);
  return (
    <Cursors view={view} onFollowedMove={(position) => camera.reveal(placeOf(position), freePart())}>
      {children}
    </Cursors>
  );
}

/** Says what is selected to those who do not see its outline. */
function SelectionCount({ selection }: { readonly selection: Selection }) {
  const { size } = useSyncExternalStore(selection.subscribe, () => selection.state.ids);
  return (
    <p className="visually-hidden" role="status">
      {size > 0 && `${size} selected. Arrow keys move, Delete removes.`}
    </p>
  );
}
