/** `Cursors`: an area over which all see each other's pointers. */
import {
  type CSSProperties,
  memo,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useRef,
  useState,
} from "react";
import { type Member, useOthers, useRoom, useSelf } from "../react/index.ts";
import { CursorMotion, type CursorPosition, type CursorView, rounded } from "./cursor-motion.ts";
import { styleOf, useOtherPeople } from "./people.ts";
import { useTexts } from "./texts.ts";

interface CursorsProps {
  readonly children?: ReactNode;
  /** The field of the presence for the position, `{ x, y }`; `cursor` by default. */
  readonly field?: string | undefined;
  /**
   * Pan and zoom of the content in the area. Positions are then those of the content, also while it moves below
   * a resting pointer; without a view, pixels from the area's left top corner.
   */
  readonly view?: CursorView | undefined;
  /**
   * Called with the position of a user whom this user follows: at once, and in each frame in which the pointer
   * moves.
   */
  readonly onFollowedMove?: ((position: CursorPosition) => void) | undefined;
  /** Whether a user's name stands at the pointer: false where your content names them already. True by default. */
  readonly isNamed?: ((userId: string) => boolean) | undefined;
}

const WHOLE: CursorView = { x: 0, y: 0, zoom: 1 };

const planeOf = ({ x, y, zoom }: CursorView) =>
  ({ transform: `translate(${x}px, ${y}px) scale(${zoom})`, "--atrium-zoom": zoom }) as CSSProperties;

const followedBy = ({ user }: Member): readonly string[] => user.following;

/** Moves are drawn without React: components render when a user joins, leaves or is renamed. */
export function Cursors(props: CursorsProps): ReactNode {
  const { children, field = "cursor", view, onFollowedMove, isNamed } = props;
  const { presence } = useRoom().client;
  const people = useOtherPeople();
  const followed = useSelf(followedBy);
  const isInChain = useOthers((others) =>
    others.some(({ user }) => followed?.includes(user.id) === true && user.following.length > 0),
  );
  const layer = useRef<HTMLDivElement>(null);
  const [motion] = useState(() => new CursorMotion());
  const pointer = useRef<CursorPosition>(null);
  const { x, y, zoom } = view ?? WHOLE;
  const show = () => {
    if (pointer.current === null) return presence.update({ [field]: undefined });
    presence.update({
      [field]: {
        x: rounded((pointer.current.x - x) / zoom, zoom),
        y: rounded((pointer.current.y - y) / zoom, zoom),
      },
    });
  };
  const move = ({ currentTarget, clientX, clientY }: PointerEvent<HTMLElement>) => {
    const { left, top, width } = currentTarget.getBoundingClientRect();
    // A page may be scaled, by `zoom` or `transform`.
    const scale = width / currentTarget.offsetWidth || 1;
    pointer.current = { x: (clientX - left) / scale, y: (clientY - top) / scale };
    show();
  };
  const leave = () => {
    pointer.current = null;
    show();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: content that moves below a resting pointer moves its position
  useEffect(() => {
    // Users who follow each other would chase each other.
    if (pointer.current !== null && !isInChain) show();
  }, [x, y, zoom]);
  useEffect(() => {
    const unsync = presence.sync("*", ({ userId, state }) => motion.receive(userId, state?.[field]));
    return () => {
      unsync();
      motion.stop();
      presence.update({ [field]: undefined });
    };
  }, [presence, field, motion]);
  useEffect(() => motion.show(layer.current, view ?? WHOLE, onFollowedMove));
  return (
    <div className="atrium-cursors" onPointerDown={move} onPointerMove={move} onPointerLeave={leave}>
      {children}
      <div ref={layer} className="atrium atrium-cursor-layer" aria-hidden="true">
        <div style={view && planeOf(view)}>
          {people.map(({ id, name, color }) => {
            const isFollowed = followed?.includes(id) === true;
            const isNameless = isNamed?.(id) === false;
            return <Cursor key={id} {...{ id, name, color, field, motion, isFollowed, isNameless }} />;
          })}
        </div>
      </div>
    </div>
  );
}

interface CursorProps {
  readonly id: string;
  readonly name: string;
  readonly color: string | undefined;
  readonly field: string;
  readonly motion: CursorMotion;
  readonly isFollowed: boolean;
  readonly isNameless: boolean;
}

const Cursor = /* @__PURE__ */ memo(function Cursor(props: CursorProps) {
  const { id, name, color, field, motion, isFollowed, isNameless } = props;
  const texts = useTexts();
  const { presence } = useRoom().client;
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (element.current === null) return;
    const remove = motion.add(id, element.current, isFollowed);
    motion.receive(id, presence.getStates().get(id)?.[field]);
    return remove;
  }, [presence, motion, id, field, isFollowed]);
  return (
    <div ref={element} className="atrium-cursor" style={styleOf({ color })} data-followed={isFollowed} hidden>
      <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
        <path d="M1 1l5.5 15 2.6-6.4L15.5 7z" />
      </svg>
      <span hidden={isNameless}>{isFollowed ? texts.following(name) : name}</span>
    </div>
  );
});
