/** `CommentPins`: the threads of a canvas as pins that open them, and a button that places a new one. */
import {
  type FocusEvent,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useRef,
  useState,
  type WheelEvent,
} from "react";
import { isComposing } from "../core/input-method.ts";
import { useRoomPermissions, useThreads } from "../react/index.ts";
import { Avatar } from "../react-ui/avatar.tsx";
import { Composer } from "../react-ui/composer.tsx";
import { Failure, nameOf, useUser } from "../react-ui/room.tsx";
import { useTexts } from "../react-ui/texts.ts";
import { Thread } from "../react-ui/thread.tsx";
import {
  anchorAt,
  anchorByKey,
  type CanvasAnchor,
  type CanvasEditor,
  isWithin,
  type Point,
} from "./anchor.ts";
import { type CanvasPin, useCanvasPins, usePlace, useSize } from "./use-canvas-pins.ts";
import { useMoves } from "./use-moves.ts";

/** The action of the user with the comments of a canvas: choosing the place of a new one, reading a thread, or neither. */
export type ActiveComment = "placing" | { readonly threadId: string } | null;

interface CommentPinsProps {
  /** tldraw's `Editor`, or a canvas of your own. */
  readonly editor: CanvasEditor;
  /** True to show resolved threads too; false by default. An open one is shown until it is closed. */
  readonly showResolved?: boolean | undefined;
  /** False where a button of your own sets `active` to `"placing"`; true by default. */
  readonly showButton?: boolean | undefined;
  /** The state, where your application keeps it: it changes with `onActiveChange` alone then. */
  readonly active?: ActiveComment | undefined;
  /** Called when the user begins or cancels a comment, and opens or closes a thread. */
  readonly onActiveChange?: ((active: ActiveComment) => void) | undefined;
}

/** More comments in a thread are scrolled. */
const SHORT = 3;
/** The pixels to the right of a pin that a card takes. */
const CARD_WIDTH = 336;

/**
 * Pins of comments, inside a `RoomProvider`: for the slot `InFrontOfTheCanvas` of tldraw, or above a canvas of your own,
 * in a positioned element of its size. Where your application opens a thread, it also moves the camera to it.
 */
export function CommentPins(props: CommentPinsProps): ReactNode {
  const { editor, showResolved = false, showButton = true, onActiveChange } = props;
  const texts = useTexts();
  const pins = useCanvasPins(editor, { resolved: true });
  const [{ threads: unread }] = useThreads({ unread: true });
  const mayWrite = useRoomPermissions().canWrite("comments");
  const [draft, setDraft] = useState<CanvasAnchor | null>(null);
  const [own, setOwn] = useState<ActiveComment>(null);
  const active = props.active === undefined ? own : props.active;
  const isPlacing = active === "placing";
  const openId = isPlacing ? undefined : active?.threadId;
  const add = useRef<HTMLButtonElement>(null);
  const { onFocus, giveBack } = useFocusReturn(add);
  if (isPlacing && draft !== null) setDraft(null);
  const activate = (next: ActiveComment) => {
    setOwn(next);
    onActiveChange?.(next);
  };
  const cancel = () => {
    setDraft(null);
    if (isPlacing) activate(null);
    giveBack();
  };
  const size = useSize(editor);
  const shown = pins.filter(
    ({ threadId, first, ...place }) =>
      threadId === openId || ((showResolved || !first.resolved) && isWithin(place, size)), // a pin outside would take the focus unseen
  );
  const place = usePlace(editor, draft);
  return (
    // Keys belong to the fields and buttons in it: neither the canvas nor tldraw's shortcuts get them.
    // biome-ignore lint/a11y/noStaticElementInteractions: it only keeps keys
    <div
      className="atrium atrium-pins"
      onKeyDownCapture={(event) => editor.markEventAsHandled?.(event)}
      onKeyDown={(event) => event.stopPropagation()}
    >
      {mayWrite && (showButton || isPlacing) && (
        <p className="atrium-add-pin">
          {isPlacing && <span>{texts.placeComment}</span>}
          <button
            ref={add}
            type="button"
            aria-pressed={isPlacing}
            onClick={() => (isPlacing ? cancel() : activate("placing"))}
          >
            {isPlacing ? texts.cancel : texts.addComment}
          </button>
        </p>
      )}
      {mayWrite && isPlacing && (
        <Surface
          editor={editor}
          onFocus={onFocus}
          cancel={cancel}
          pick={(anchor) => {
            setDraft(anchor);
            activate(null);
          }}
        />
      )}
      <ul>
        {shown.map((pin) => (
          <Pin
            key={pin.threadId}
            pin={pin}
            editor={editor}
            isUnread={unread.some(({ id, unread_count }) => id === pin.threadId && unread_count !== 0)}
            isOpen={pin.threadId === openId}
            setOpen={(isOpen) => activate(isOpen ? { threadId: pin.threadId } : null)}
          />
        ))}
      </ul>
      {place !== null && (
        <div className="atrium-pin atrium-draft" style={{ left: place.x, top: place.y }}>
          <Card label={texts.newComment} editor={editor} place={place} close={cancel}>
            <Composer
              anchor={draft}
              onSent={({ thread_id }) => {
                setDraft(null);
                activate({ threadId: thread_id });
              }}
            />
          </Card>
        </div>
      )}
    </div>
  );
}

/** Keeps what had the focus before something was opened, and gives it back; without that, to `home`. */
function useFocusReturn(home: RefObject<HTMLElement | null>) {
  const before = useRef<HTMLElement | null>(null);
  return {
    onFocus: ({ relatedTarget, currentTarget }: FocusEvent) => {
      if (!currentTarget.contains(relatedTarget)) before.current = relatedTarget as HTMLElement | null;
    },
    giveBack: () => (before.current?.isConnected ? before.current : home.current)?.focus(),
  };
}

interface SurfaceProps {
  readonly editor: CanvasEditor;
  onFocus(event: FocusEvent): void;
  pick(anchor: CanvasAnchor): void;
  cancel(): void;
}

/** Covers the canvas while a place is chosen: a click chooses it, and Enter what is selected, or the center. */
function Surface({ editor, onFocus, pick, cancel }: SurfaceProps) {
  const texts = useTexts();
  const surface = useRef<HTMLButtonElement>(null);
  useEffect(() => surface.current?.focus(), []);
  const choose = ({ clientX, clientY, detail }: MouseEvent) => {
    const isPointed = detail > 0;
    const point = () => editor.screenToPage({ x: clientX, y: clientY });
    pick(isPointed ? anchorAt(editor, point()) : anchorByKey(editor));
  };
  return (
    <button
      ref={surface}
      type="button"
      className="atrium-pin-surface"
      aria-label={texts.placeComment}
      onFocus={onFocus}
      onWheel={passWheel}
      onClick={choose}
      onKeyDown={({ key }) => key === "Escape" && cancel()}
    />
  );
}

/** Pans and zooms the canvas where something of the layer is above it. */
function passWheel({ currentTarget, nativeEvent }: WheelEvent) {
  const layer = currentTarget.closest(".atrium-pins");
  const root = currentTarget.getRootNode() as Document | ShadowRoot;
  const below = root
    .elementsFromPoint(nativeEvent.clientX, nativeEvent.clientY)
    .find((element) => !layer?.contains(element));
  below?.dispatchEvent(new WheelEvent("wheel", nativeEvent));
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
  const { onFocus, giveBack } = useFocusReturn(button);
  const hintId = useId();
  const name = nameOf(author, texts);
  const label = texts.pin(name, pin.comments, isUnread);
  const close = () => {
    setOpen(false);
    giveBack();
  };
  return (
    <li
      className="atrium-pin"
      data-open={isOpen}
      {...directions(editor, place)}
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
        title={pin.first.text}
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
        <Card
          label={label}
          editor={editor}
          place={place}
          isLong={pin.comments > SHORT}
          onFocus={onFocus}
          close={close}
        >
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
  /** Scrolls the comments. A short thread cuts off nothing that opens in it, such as a choice of emoji. */
  readonly isLong?: boolean | undefined;
  readonly children: ReactNode;
  readonly onFocus?: ((event: FocusEvent) => void) | undefined;
  close(): void;
}

/** Where a card opens: to the right and below, unless the room is too small there and larger on the other side. */
function directions(editor: CanvasEditor, { x, y }: Point) {
  const { w, h } = editor.getViewportScreenBounds();
  return { "data-left": x > Math.max(w / 2, w - CARD_WIDTH), "data-up": y > h / 2 };
}

/** The card beside a pin. The field of a new comment gets the focus. */
function Card({ label, editor, place, isLong = false, children, onFocus, close }: CardProps) {
  const texts = useTexts();
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    const field = card.current?.querySelector<HTMLElement>(":scope > .atrium-composer textarea");
    (field ?? card.current)?.focus();
  }, []);
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
      {...directions(editor, place)}
      data-long={isLong}
      onFocus={onFocus}
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
