/** The pins of threads on the board, and the thread that is open beside its pin; a sheet on a phone. */
import type { Comment } from "atrium/client";
import { useComments, useSelf, useUsers } from "atrium/react";
import { Thread as CommentThread, Composer, Comment as Entry } from "atrium/react-ui";
import { type ReactNode, useCallback, useEffect, useRef } from "react";
import { createPortal } from "react-dom";
import { isComposing } from "../../../platform/input-method.ts";
import { freeMiddle, isNarrow } from "../canvas/camera.ts";
import { shownBox, useShown } from "../canvas/content.tsx";
import { placeOf, readColor } from "../room/model.ts";
import { useMayWrite, useTyping, useTypists } from "../room/participants.ts";
import type { Point } from "../room/shape.ts";
import { thingAt } from "../room/things.ts";
import { type Anchor, commentsOf, type FocusProps, pinPlace, type Thread, threadsOf } from "./threads.ts";

/** A shape whose line is within this distance of the click gets the pin. */
const REACH = 12;
/** The part of the window that an open thread takes beside its pin. */
const CARD = { x: 320, y: 280 };

const initialOf = (name: string): string => [...name][0] ?? "?";

export default function Pins({ focus, setFocus }: FocusProps) {
  const shown = useShown();
  const mayWrite = useMayWrite("comments");
  const mayComment = mayWrite && !shown.isPast;
  const [present] = useComments();
  const comments = shown.pastComments ? commentsOf(shown.pastComments) : present;
  const color = useSelf(({ presence }) => readColor(presence?.color)) ?? "";
  const ruler = useRef<HTMLSpanElement>(null);
  const placeOfPin = (anchor: Anchor) => pinPlace(anchor, (id) => shownBox(shown, id));
  const threads = threadsOf(comments);
  const open = focus?.type === "thread" ? threads.find(({ id }) => id === focus.id) : undefined;
  const draft = (point: Point, id: string | null) => {
    const box = id === null ? null : shownBox(shown, id);
    const thing = id !== null && box ? { id, by: placeOf({ x: point.x - box.x, y: point.y - box.y }) } : null;
    setFocus({ type: "draft", anchor: { ...point, thing, color } });
  };
  const place = ({ x, y }: Point) => {
    const { left, top, width } = ruler.current?.getBoundingClientRect() ?? { left: 0, top: 0, width: RULER };
    const point = placeOf({ x: ((x - left) * RULER) / width, y: ((y - top) * RULER) / width });
    draft(point, thingAt(shown.things, point, REACH));
  };
  const placeByKey = () => {
    const [selected] = [...shown.holds].find(([, { color }]) => color === null) ?? [];
    const box = selected === undefined ? null : shownBox(shown, selected);
    if (selected === undefined || box === null) return place(freeMiddle());
    const corner = placeOf({ x: box.x + box.width, y: box.y });
    revealCard(corner);
    draft(corner, selected);
  };
  const close = () => setFocus(null);
  const point = open?.anchor ? placeOfPin(open.anchor) : null;
  const revealCard = ({ x, y }: Point) => {
    for (const by of [CARD, { x: 0, y: 0 }]) shown.reveal({ x: x + by.x, y: y + by.y });
  };
  const mustReveal = focus?.type === "thread" && !focus.isRevealed && open !== undefined;
  useEffect(() => {
    if (!mustReveal || focus?.type !== "thread") return;
    if (point !== null) revealCard(point);
    setFocus({ ...focus, isRevealed: true });
  });
  const card = open && (
    <Card label="Thread" close={close}>
      <Typing where={open.id}>
        {shown.isPast ? <Past thread={open} /> : <CommentThread threadId={open.id} autoFocus={!isNarrow()} />}
      </Typing>
    </Card>
  );
  return (
    <>
      <span ref={ruler} className="ruler" />
      {threads.map(({ id, anchor, isResolved, comments: [first, ...replies] }) => {
        const isOpen = id === open?.id;
        return (
          anchor !== null &&
          (isOpen || !isResolved) && (
            <Pin key={id} place={placeOfPin(anchor)}>
              <PinMark
                first={first}
                replies={replies.length}
                color={anchor.color}
                isOpen={isOpen}
                toggle={() => setFocus(isOpen ? null : { type: "thread", id, isRevealed: true })}
              />
              {isOpen && card}
            </Pin>
          )
        );
      })}
      {open?.anchor === null && card}
      {mayComment && focus?.type === "draft" && (
        <Pin place={placeOfPin(focus.anchor)}>
          <span className="pin-mark" style={{ color: focus.anchor.color }}>
            <span>+</span>
          </span>
          <Card label="New comment" close={close}>
            <Typing where="draft">
              <Composer
                autoFocus
                anchor={focus.anchor}
                onSent={({ id }) => setFocus({ type: "thread", id, isRevealed: true })}
              />
            </Typing>
          </Card>
        </Pin>
      )}
      {mayComment &&
        focus?.type === "placing" &&
        createPortal(<Placing {...{ place, placeByKey }} cancel={close} />, document.body)}
    </>
  );
}

/** The width of an element in pixels of the board, whose place and size in the window tell those of the board. */
const RULER = 100;

const Pin = ({ place: { x, y }, children }: { readonly place: Point; readonly children: ReactNode }) => (
  <div className="pin" style={{ transform: `translate(${x}px, ${y}px)` }}>
    {children}
  </div>
);

interface PinMarkProps {
  readonly first: Comment;
  readonly replies: number;
  readonly color: string;
  readonly isOpen: boolean;
  toggle(): void;
}

function PinMark({ first, replies, color, isOpen, toggle }: PinMarkProps) {
  const name = useName(first.user_id);
  return (
    <button
      type="button"
      className="pin-mark"
      style={{ color }}
      title={`${name}: ${first.text}`}
      aria-label={`Comment by ${name}: ${first.text}`}
      aria-description={replies === 0 ? "" : `${replies} replies`}
      aria-expanded={isOpen}
      onClick={toggle}
      onKeyDown={(event) => event.key === " " && event.stopPropagation()} // it presses the button, and moves no board
    >
      <span>{initialOf(name)}</span>
    </button>
  );
}

const useName = (userId: string): string => {
  const [user] = useUsers([userId]);
  return user === undefined ? "" : (user?.name ?? "Deleted user");
};

interface PlacingProps {
  /** Places the comment at a point of the window. */
  place(point: Point): void;
  /** Places it beside what is selected, or else in the middle. */
  placeByKey(): void;
  cancel(): void;
}

/** A layer over the board: the next click or key places a comment. */
function Placing({ place, placeByKey, cancel }: PlacingProps) {
  return (
    <button
      type="button"
      className="placing"
      // biome-ignore lint/a11y/noAutofocus: the person has just asked for a comment
      autoFocus
      onClick={({ detail, clientX, clientY }) =>
        detail === 0 ? placeByKey() : place({ x: clientX, y: clientY })
      }
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape") cancel();
      }}
    >
      <span>Click on a note, a shape or the board. Enter comments on what is selected, Escape cancels.</span>
    </button>
  );
}

interface CardProps {
  readonly label: string;
  readonly children: ReactNode;
  close(): void;
}

/** It lies on the board, whose gestures, keys and wheel it does not pass on. */
function Card({ label, children, close }: CardProps) {
  const bind = useCallback((card: HTMLElement) => {
    const before = document.activeElement;
    const keep = (event: Event) => event.stopPropagation();
    card.addEventListener("wheel", keep);
    return () => {
      card.removeEventListener("wheel", keep);
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const card = (
    <section
      ref={bind}
      className="thread"
      aria-label={label}
      onPointerDown={(event) => event.stopPropagation()}
      onMouseDown={(event) => event.stopPropagation()}
      onDoubleClick={(event) => event.stopPropagation()}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape" && !isComposing(event.nativeEvent)) close();
      }}
    >
      <button type="button" className="close" aria-label={`Close ${label.toLowerCase()}`} onClick={close}>
        ×
      </button>
      {children}
    </section>
  );
  return isNarrow() ? createPortal(card, document.body) : card;
}

/** Shows the others that this user writes here, and this one who else does. */
function Typing({ where, children }: { readonly where: string; readonly children: ReactNode }) {
  const typing = useTyping(where);
  const typists = useTypists(where);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the events are those of the field in it
    <div onInput={typing.typed} onBlur={typing.ended}>
      {children}
      <p role="status">{typists}</p>
    </div>
  );
}

/** The thread as it was. */
const Past = ({ thread: { comments } }: { readonly thread: Thread }) => (
  <ol>
    {comments.map((comment) => (
      <li key={comment.id}>
        <Entry comment={comment} readOnly />
      </li>
    ))}
  </ol>
);
