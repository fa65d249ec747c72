/** The pins of threads on the board, and the thread that is open beside its pin; a sheet on a phone. */
import type { Comment } from "atrium/client";
import { useComments, useRoom, useSelf } from "atrium/react";
import { type FormEvent, type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
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
const REACTIONS = ["❤️", "😄", "😮"];
const MAX_LENGTH = 1_000;

/** Whether the visitor may write comments, and it is the present that is shown. */
const useMayComment = (): boolean => {
  const mayWrite = useMayWrite("comments");
  return !useShown().isPast && mayWrite;
};

const initialOf = (name: string): string => [...name][0] ?? "?";

export default function Pins({ focus, setFocus }: FocusProps) {
  const shown = useShown();
  const mayComment = useMayComment();
  const [present, { create }] = useComments();
  const comments = shown.pastComments ? commentsOf(shown.pastComments) : present;
  const color = useSelf(({ presence }) => readColor(presence?.color)) ?? "";
  const ruler = useRef<HTMLSpanElement>(null);
  const placeOfPin = (anchor: Anchor) => pinPlace(anchor, (id) => shownBox(shown, id));
  const threads = threadsOf(comments);
  const open = focus?.type === "thread" ? threads.find(({ id }) => id === focus.id) : undefined;
  const draft = (point: Point, id: string | null) => {
    const box = id === null ? null : shownBox(shown, id);
    const thing = id !== null && box ? { id, by: placeOf({ x: point.x - box.x, y: point.y - box.y }) } : null;
    setFocus({ type: "draft", anchor: { ...point, thing, color }, text: "" });
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
  const start = async (anchor: Anchor, text: string) => {
    setFocus(null);
    const comment = await create({ text, anchor }).catch((error: unknown) => {
      setFocus({ type: "draft", anchor, text });
      throw error;
    });
    setFocus({ type: "thread", id: comment.id, isRevealed: true });
  };
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
      <Replies thread={open} />
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
            <Composer
              where="draft"
              label="Comment"
              initial={focus.text}
              send={(text) => start(focus.anchor, text)}
            />
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
  const { users } = useRoom().client;
  return users.get({ userId })?.name ?? "Deleted user";
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
        if (event.key === "Escape") close();
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

function Replies({ thread: { id, isResolved, comments } }: { readonly thread: Thread }) {
  const [, { create, resolve }] = useComments();
  const mayComment = useMayComment();
  return (
    <>
      <button
        type="button"
        disabled={!mayComment}
        onClick={() => void resolve({ commentId: id, resolved: !isResolved })}
      >
        {isResolved ? "Reopen" : "Resolve"}
      </button>
      <ol>
        {comments.map((comment) => (
          <Entry key={comment.id} comment={comment} canDelete={comments.length === 1 || comment.id !== id} />
        ))}
      </ol>
      {mayComment && (
        <Composer
          where={id}
          label="Reply"
          send={async (text) => {
            await create({ text, threadId: id });
          }}
        />
      )}
    </>
  );
}

function Entry({ comment, canDelete }: { readonly comment: Comment; readonly canDelete: boolean }) {
  const { client } = useRoom();
  const [, { react, delete: remove }] = useComments();
  const { id: commentId, user_id, text, created_at, reactions } = comment;
  const name = useName(user_id);
  const mayComment = useMayComment();
  return (
    <li>
      <b>{name}</b>
      <time>{new Date(created_at).toLocaleTimeString([], { timeStyle: "short" })}</time>
      {mayComment && canDelete && user_id === client.userId && (
        <button
          type="button"
          className="close"
          aria-label="Delete comment"
          onClick={() => void remove({ commentId })}
        >
          ×
        </button>
      )}
      <p>{text}</p>
      <div className="reactions">
        {REACTIONS.map((reaction) => {
          const users = reactions[reaction] ?? [];
          const isOwn = users.includes(client.userId);
          return (
            <button
              key={reaction}
              type="button"
              aria-label={`React with ${reaction}`}
              aria-pressed={isOwn}
              disabled={!mayComment}
              onClick={() => void react({ commentId, reaction, on: !isOwn })}
            >
              {reaction} {users.length || ""}
            </button>
          );
        })}
      </div>
    </li>
  );
}

interface ComposerProps {
  /** Others see that this user writes there. */
  readonly where: string;
  readonly label: string;
  readonly initial?: string;
  send(text: string): Promise<void>;
}

function Composer({ where, label, initial = "", send }: ComposerProps) {
  const [text, setText] = useState(initial);
  const typing = useTyping(where);
  const typists = useTypists(where);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === "") return;
    typing.ended();
    setText("");
    await send(text.trim()).catch((error: unknown) => {
      setText(text);
      throw error;
    });
  };
  return (
    <form onSubmit={submit}>
      <textarea
        // biome-ignore lint/a11y/noAutofocus: the person has opened the thread to write or to read it
        autoFocus={!isNarrow() || label === "Comment"}
        rows={2}
        aria-label={label}
        placeholder={typists || `${label}…`}
        maxLength={MAX_LENGTH}
        value={text}
        onChange={({ target }) => {
          typing.typed();
          setText(target.value);
        }}
        onBlur={typing.ended}
        onKeyDown={(event) =>
          event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing && submit(event)
        }
      />
      <button type="submit" className="primary" disabled={text.trim() === ""}>
        Send
      </button>
    </form>
  );
}
