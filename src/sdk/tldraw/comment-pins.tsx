/** `CommentPins`: the threads of a canvas as pins that open them, and a button that places a new one. */
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
  type WheelEvent,
} from "react";
import { isComposing } from "../../platform/input-method.ts";
import { useRoomPermissions, useThreads } from "../react/index.ts";
import { Avatar } from "../react-ui/avatar.tsx";
import { Composer } from "../react-ui/composer.tsx";
import { Failure, nameOf, useUser } from "../react-ui/room.tsx";
import { useTexts } from "../react-ui/texts.ts";
import { Thread } from "../react-ui/thread.tsx";
import { anchorAt, type CanvasAnchor, type CanvasEditor, type Point } from "./anchor.ts";
import { type CanvasPin, useCanvasPins, usePlace } from "./use-canvas-pins.ts";
import { useMoves } from "./use-moves.ts";

interface CommentPinsProps {
  readonly editor: CanvasEditor;
  /** True to show resolved threads too; false by default. */
  readonly showResolved?: boolean | undefined;
}

/** More comments in a thread are scrolled. */
const SHORT = 3;

/** The new comment: none, one whose place is being chosen, or one that is being written. */
type Draft = null | "placing" | CanvasAnchor;

/** For the slot `InFrontOfTheCanvas` of tldraw, inside a `RoomProvider`. */
export function CommentPins({ editor, showResolved = false }: CommentPinsProps): ReactNode {
  const texts = useTexts();
  const pins = useCanvasPins(editor, { resolved: showResolved });
  const [{ threads: unread }] = useThreads({ unread: true });
  const mayWrite = useRoomPermissions().canWrite("comments");
  const [draft, setDraft] = useState<Draft>(null);
  const [openId, setOpenId] = useState<string | null>(null);
  const add = useRef<HTMLButtonElement>(null);
  const begin = (next: Draft) => {
    setDraft(next);
    setOpenId(null);
  };
  const cancel = () => {
    setDraft(null);
    add.current?.focus();
  };
  const { w, h } = editor.getViewportScreenBounds();
  const isShown = ({ threadId, x, y }: CanvasPin) =>
    threadId === openId || (x >= 0 && y >= 0 && x <= w && y <= h);
  const shown = pins.filter(isShown); // a pin outside would take the focus unseen
  const place = usePlace(editor, draft === "placing" ? null : draft);
  return (
    // Keys belong to the fields and buttons in it: neither the canvas nor tldraw's shortcuts get them.
    // biome-ignore lint/a11y/noStaticElementInteractions: it only keeps keys
    <div
      className="atrium atrium-pins"
      onKeyDownCapture={(event) => editor.markEventAsHandled(event)}
      onKeyDown={(event) => event.stopPropagation()}
    >
      {mayWrite && (
        <button
          ref={add}
          type="button"
          className="atrium-add-pin"
          aria-pressed={draft === "placing"}
          onClick={() => begin(draft === "placing" ? null : "placing")}
        >
          {draft === "placing" ? texts.cancel : texts.addComment}
        </button>
      )}
      {mayWrite && draft === "placing" && (
        <Surface editor={editor} pick={(point) => begin(anchorAt(editor, point))} cancel={cancel} />
      )}
      <ul>
        {shown.map((pin) => (
          <Pin
            key={pin.threadId}
            pin={pin}
            editor={editor}
            isUnread={unread.some(({ id, unread_count }) => id === pin.threadId && unread_count !== 0)}
            isOpen={pin.threadId === openId}
            setOpen={(isOpen) => {
              setOpenId(isOpen ? pin.threadId : null);
              setDraft((now) => (now === "placing" ? null : now));
            }}
          />
        ))}
      </ul>
      {place !== null && (
        <div className="atrium-pin atrium-draft" style={{ left: place.x, top: place.y }}>
          <Card label={texts.newComment} editor={editor} place={place} close={cancel}>
            <Composer
              anchor={draft}
              onSent={({ thread_id }) => {
                begin(null);
                setOpenId(thread_id);
              }}
            />
          </Card>
        </div>
      )}
    </div>
  );
}

interface SurfaceProps {
  readonly editor: CanvasEditor;
  pick(point: Point): void;
  cancel(): void;
}

/** Covers the canvas while a place is chosen: a click chooses it, and Enter the center. */
function Surface({ editor, pick, cancel }: SurfaceProps) {
  const texts = useTexts();
  const choose = ({ clientX, clientY, detail }: MouseEvent) => {
    const { x, y, w, h } = editor.getViewportScreenBounds();
    const isPointed = detail > 0;
    pick(editor.screenToPage(isPointed ? { x: clientX, y: clientY } : { x: x + w / 2, y: y + h / 2 }));
  };
  return (
    <button
      type="button"
      className="atrium-pin-surface"
      aria-label={texts.placeComment}
      // biome-ignore lint/a11y/noAutofocus: the person has just asked to place a comment
      autoFocus
      onWheel={passWheel}
      onClick={choose}
      onKeyDown={({ key }) => key === "Escape" && cancel()}
    />
  );
}

/** Pans and zooms the canvas where something of the layer is above it. */
function passWheel({ currentTarget, nativeEvent }: WheelEvent) {
  const canvas = currentTarget.closest(".tl-container")?.querySelector(".tl-canvas");
  canvas?.dispatchEvent(new WheelEvent("wheel", nativeEvent));
}

interface PinProps {
  readonly pin: CanvasPin;
  readonly editor: CanvasEditor;
  readonly isUnread: boolean;
  readonly isOpen: boolean;
  setOpen(isOpen: boolean): void;
}

function Pin({ pin, editor, isUnread, isOpen, setOpen }: PinProps) {
  const texts = useTexts();
  const author = useUser(pin.first.user_id);
  const button = useRef<HTMLButtonElement>(null);
  const { canMove, place, error, isMoved, handlers } = useMoves(pin, editor);
  const { w, h } = editor.getViewportScreenBounds();
  const hintId = useId();
  const name = nameOf(author, texts);
  const label = texts.pin(name, pin.comments, isUnread);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <li
      className="atrium-pin"
      data-open={isOpen}
      data-left={place.x > w / 2}
      data-up={place.y > h / 2}
      style={{ left: place.x, top: place.y }}
    >
      <button
        ref={button}
        type="button"
        aria-describedby={canMove ? hintId : undefined}
        data-movable={canMove}
        aria-expanded={isOpen}
        data-unread={isUnread}
        data-resolved={pin.first.resolved}
        onWheel={passWheel}
        onClick={() => setOpen(!isOpen)}
        {...handlers}
      >
        <Avatar name={name} picture={author?.profile_picture} />
        {pin.comments > 1 && <b aria-hidden="true">{pin.comments}</b>}
        <span className="atrium-hidden">{label}</span>
      </button>
      {canMove && (
        <>
          <span id={hintId} hidden>
            {texts.movePin}
          </span>
          <span role="status" className="atrium-hidden">
            {isMoved && texts.pinMoved}
          </span>
        </>
      )}
      <Failure error={error} />
      {isOpen && (
        <Card label={label} editor={editor} place={place} isLong={pin.comments > SHORT} close={close}>
          <Thread threadId={pin.threadId} />
        </Card>
      )}
    </li>
  );
}

interface CardProps {
  readonly label: string;
  readonly editor: CanvasEditor;
  readonly place: Point;
  /** Scrolls its comments. What opens in a short one, such as a choice of emoji, is not cut off. */
  readonly isLong?: boolean | undefined;
  readonly children: ReactNode;
  close(): void;
}

/** Opens to the side of the pin where there is more room. The field of a new comment gets the focus. */
function Card({ label, editor, place, isLong = false, children, close }: CardProps) {
  const texts = useTexts();
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    const field = card.current?.querySelector<HTMLElement>(":scope > .atrium-composer textarea");
    (field ?? card.current)?.focus();
  }, []);
  const { w, h } = editor.getViewportScreenBounds();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && !isComposing(event.nativeEvent)) close();
  };
  return (
    <section
      ref={card}
      role="dialog"
      aria-label={label}
      tabIndex={-1}
      className="atrium-pin-card"
      data-left={place.x > w / 2}
      data-up={place.y > h / 2}
      data-long={isLong}
      onKeyDown={onKeyDown}
    >
      <button
        type="button"
        className="atrium-icon"
        aria-label={texts.close}
        title={texts.close}
        onClick={close}
      >
        ×
      </button>
      {children}
    </section>
  );
}
