/** The board: notes, shapes and the others' cursors, on an endless surface. */

import { useRoom, useSelf } from "atrium/react";
import { Cursors } from "atrium/react-ui";
import {
  type CSSProperties,
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
import { type Box, boxBetween, boxOf, freePlace, itemAt } from "../room/items.ts";
import { NOTE_SIZE, placeOf, readParticipant } from "../room/model.ts";
import { unfollowAll, useMayWrite } from "../room/participants.ts";
import type { Kind, Point } from "../room/shape.ts";
import {
  Camera,
  FARTHEST_FRAMED,
  FRAMED_BOX,
  freeMiddle,
  freePart,
  isFramed,
  keepInView,
  writingPart,
} from "./camera.ts";
import { Content, useShown } from "./content.tsx";
import { Edits } from "./edits.ts";
import { Flags } from "./flags.tsx";
import { Gestures, pointOf, type Tool } from "./gestures.ts";
import { useKeys } from "./keys.ts";
import { NoteCards } from "./note.tsx";
import { Reactions } from "./reactions.tsx";
import { Selection } from "./selection.ts";
import { SelectionBar, type SelectionBarProps } from "./selection-bar.tsx";
import { Shapes } from "./shapes.tsx";
import { Toolbar, Zoom } from "./toolbar.tsx";

/** The hint for the first visitor, between the header and the tools. */
const FIRST_BOX = { x: -350, y: -250, width: 700, height: 500 };
const ZOOM_PER_PIXEL = 1.0025;
/** On a phone, items are smaller, but not so small that no one can hit them. */
const FARTHEST_AT_FIRST = 0.5;
/** The size of a shape that is added by keyboard. */
const SHAPE_SIZE = { width: 160, height: 100 };

/** Text that is being written, and the bar of the selection: a press there is no matter of the board. */
const isOutside = (target: EventTarget): boolean =>
  target instanceof Element && target.closest(".selection-bar, textarea:focus") !== null;

interface BoardProps extends Pick<SelectionBarProps, "comment"> {
  /** What stands beside the tools; gets a function that shows the whole board. */
  beside?(showAll: () => void): ReactNode;
  /** They lie above the board, and can read its content. */
  readonly children: ReactNode;
}

export function Board({ beside, children, comment }: BoardProps) {
  const { client } = useRoom();
  const [tool, setTool] = useState<Tool>("select");
  const [isPanning, setPanning] = useState(false);
  const [tint, setTint] = useState(1);
  const main = useRef<HTMLElement>(null);
  /** The note that was selected before it was touched: a second touch writes. */
  const touched = useRef<string | null>(null);
  const { camera, edits, selection, gestures } = useMemo(() => {
    const camera = new Camera(() => void unfollowAll(client));
    const edits = new Edits(client);
    const selection = new Selection(client);
    const gestures = new Gestures({ camera, edits, selection, history: client.history });
    return { camera, edits, selection, gestures };
  }, [client]);
  gestures.tint = tint;
  const color = useSelf((self) => readParticipant(self).color);
  const [mayEdit, mayBroadcast] = [useMayWrite("stores"), useMayWrite("broadcasts")];
  const isFixed = !mayEdit;
  const toolInUse = isPanning || isFixed ? "hand" : tool;
  const choose = (next: Tool) => {
    gestures.cancel();
    const active = document.activeElement;
    if (active instanceof HTMLElement && active.closest(".note")) active.blur();
    if (next !== "select") selection.select([]);
    setTool(next);
  };

  const addAt = ({ x, y }: Point, picture = "") =>
    edits.addNote({ x: x - NOTE_SIZE.width / 2, y: y - NOTE_SIZE.height / 2 }, picture);
  const add = async () => {
    const { items } = edits;
    const part = writingPart();
    const place = freePlace(items, boardBox(part)) ?? freePlace(items, boardBox(part, 1));
    choose("select");
    if (place === null) {
      await addAt(camera.toBoard(freeMiddle()));
      return;
    }
    reveal({ ...place, ...NOTE_SIZE });
    await edits.addNote(place);
  };
  const reveal = ({ width, height, ...corner }: Box) => {
    const { zoom } = camera.view;
    camera.reveal(corner, writingPart(), { width: width * zoom, height: height * zoom });
  };
  /** A part of the window on the board, with so many times its size at each side. */
  const boardBox = ({ x, y, width, height }: Box, more = 0) =>
    boxBetween(
      camera.toBoard({ x: x - more * width, y: y - more * height }),
      camera.toBoard({ x: x + (1 + more) * width, y: y + (1 + more) * height }),
    );
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
    return writeIn([...selection.state.ids][0] ?? "");
  };
  /** Goes on with the text of a note; false if it is none. */
  const writeIn = (id: string): boolean => {
    const field = `[data-item="${CSS.escape(id)}"] textarea`;
    const text = isFixed ? null : main.current?.querySelector<HTMLTextAreaElement>(field);
    text?.focus();
    text?.setSelectionRange(text.value.length, text.value.length);
    return text !== undefined && text !== null;
  };
  const zoomTo = (zoom: number | "fit") => {
    if (zoom === "fit") camera.fit(edits.box ?? FIRST_BOX, freePart());
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
      const isZoom = event.ctrlKey || event.metaKey;
      if (isFramed() && !isZoom) return; // the page around it scrolls
      event.preventDefault();
      if (isZoom) camera.zoomAt(pointOf(event), ZOOM_PER_PIXEL ** -event.deltaY);
      else camera.pan({ x: -event.deltaX, y: -event.deltaY });
    };
    if (isFramed()) {
      camera.fit(FRAMED_BOX, freePart(), 1, FARTHEST_FRAMED);
      camera.reveal(FRAMED_BOX, freePart());
    } else camera.fit(FIRST_BOX, freePart(), 1, FARTHEST_AT_FIRST);
    show();
    const element = main.current;
    element?.addEventListener("wheel", wheel, { passive: false });
    const stops = [camera.subscribe(show), keepInView(camera, () => edits.box)];
    return () => {
      element?.removeEventListener("wheel", wheel);
      for (const stop of stops) stop();
    };
  }, [camera, edits]);

  useEffect(() => {
    if (!isFixed) return;
    gestures.cancel();
    if (document.activeElement?.matches(".note textarea")) (document.activeElement as HTMLElement).blur();
  }, [isFixed, gestures]);

  const press = (event: PointerEvent<HTMLElement>) => {
    const { target, button, pointerType } = event;
    if (isOutside(target) || button > 1) return gestures.press(event, null);
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    event.currentTarget.setPointerCapture(event.pointerId);
    const around = (part: string) => (target instanceof Element ? target.closest<HTMLElement>(part) : null);
    const noteId = around(".note")?.dataset.item ?? null;
    const { ids } = selection.state;
    const isAgain = pointerType === "touch" && ids.size === 1 && noteId !== null && ids.has(noteId);
    touched.current = isAgain ? noteId : null;
    gestures.press(event, {
      tool: button === 1 ? "hand" : toolInUse,
      noteId,
      side: (around(".handle")?.dataset.side ?? null) as "left" | "right" | null,
      isAdding: event.shiftKey,
      isTouch: pointerType === "touch",
    });
  };
  const release = (event: PointerEvent) => {
    const isClick = gestures.release(event);
    if (isClick && toolInUse === "select" && touched.current !== null) writeIn(touched.current);
  };
  const writeAt = (event: MouseEvent) => {
    // The board has captured the pointer: what is below it is no longer the target.
    const below = document.elementFromPoint(event.clientX, event.clientY);
    if (toolInUse !== "select" || below === null || isOutside(below) || below.matches(".handle")) return;
    const place = camera.toBoard(pointOf(event));
    const id = itemAt(edits.items, place, 0);
    if (id === null) void addAt(place);
    else writeIn(id);
  };
  return (
    <>
      {/* Before the board, whose notes have a tab stop each. */}
      <nav className="bar" aria-label="Tools">
        {isFixed || <Toolbar {...{ tool, choose, add, tint, setTint }} />}
        <Reactions mayReact={mayBroadcast} />
        {beside?.(() => zoomTo("fit"))}
      </nav>
      <Content selection={selection} camera={camera}>
        <BoardCursors camera={camera}>
          <main
            ref={main}
            data-tool={toolInUse}
            tabIndex={-1}
            onPointerDown={press}
            onMouseDown={(event) => isOutside(event.target) || event.preventDefault()}
            onPointerMove={(event) => gestures.move(event)}
            onPointerUp={release}
            onPointerCancel={release}
            style={{ "--own": color } as CSSProperties}
            onDoubleClick={writeAt}
            onFocus={({ target }) => {
              const id = isFixed ? undefined : target.closest<HTMLElement>(".note")?.dataset.item;
              const item = id === undefined ? undefined : edits.items.get(id);
              if (id === undefined || item === undefined) return;
              selection.select([id]);
              if (target.matches(".note")) reveal(boxOf(item));
            }}
            onDragOver={(event) => event.preventDefault()}
            onDrop={drop}
          >
            <div className="sheet">
              <NoteCards />
              <Shapes selection={selection} />
              <Flags />
            </div>
            {isFixed || <SelectionBar selection={selection} edits={edits} comment={comment} />}
          </main>
        </BoardCursors>
        {children}
      </Content>
      {isFixed || <SelectionCount selection={selection} />}
      <Zoom camera={camera} zoomTo={zoomTo} zoomBy={zoomBy} />
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
  const { items, holds } = useShown();
  const flagged = new Set([...holds].flatMap(([id, { flag }]) => (items.has(id) && flag?.userIds) || []));
  return (
    <Cursors
      view={view}
      onFollowedMove={(position) => camera.reveal(placeOf(position), freePart())}
      isNamed={(userId) => !flagged.has(userId)}
    >
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
