/** `Cursors`: an area over which all see each other's pointers. */
import { type PointerEvent, type ReactNode, useEffect, useRef } from "react";
import type { PresenceState } from "../client/index.ts";
import { useOther, useOthers, useRoom } from "../react/index.ts";

interface CursorsProps {
  readonly children?: ReactNode;
  /** The field of the presence for the position, `{ x, y }` in pixels from the area's left top corner; `cursor` by default. */
  readonly field?: string | undefined;
}

/** Moves are drawn without React: components render when a user joins, leaves or is renamed. */
export function Cursors({ children, field = "cursor" }: CursorsProps): ReactNode {
  const { presence } = useRoom().client;
  const ids = useOthers((others) => others.map(({ user }) => user.id));
  const layer = useRef<HTMLDivElement>(null);
  const show = (cursor: { readonly x: number; readonly y: number } | undefined) =>
    presence.update({ [field]: cursor });
  const move = ({ currentTarget, clientX, clientY }: PointerEvent) => {
    const { left, top } = currentTarget.getBoundingClientRect();
    show({ x: Math.round(clientX - left), y: Math.round(clientY - top) });
  };
  useEffect(() => {
    const unsync = presence.sync("*", ({ userId, state }) => {
      const cursor = layer.current?.querySelector<HTMLElement>(`[data-user="${CSS.escape(userId)}"]`);
      if (cursor) place(cursor, field, state);
    });
    return () => {
      unsync();
      presence.update({ [field]: undefined });
    };
  }, [presence, field]);
  return (
    <div className="atrium-cursors" onPointerMove={move} onPointerLeave={() => show(undefined)}>
      {children}
      <div ref={layer} className="atrium atrium-cursor-layer" aria-hidden="true">
        {ids.map((id) => (
          <Cursor key={id} id={id} field={field} />
        ))}
      </div>
    </div>
  );
}

function place(cursor: HTMLElement, field: string, state: PresenceState | null): void {
  const { x, y } = Object(state?.[field]);
  cursor.hidden = !(Number.isFinite(x) && Number.isFinite(y));
  if (cursor.hidden) return;
  cursor.style.transform = `translate(${x}px, ${y}px)`;
  cursor.style.setProperty("--atrium-user", String(state?.color));
}

function Cursor({ id, field }: { readonly id: string; readonly field: string }) {
  const { presence } = useRoom().client;
  const name = useOther(id, ({ user }) => user.name);
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (element.current) place(element.current, field, presence.getStates().get(id) ?? null);
  }, [presence, id, field]);
  return (
    <div ref={element} className="atrium-cursor" data-user={id} hidden>
      <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
        <path d="M1 1l5.5 15 2.6-6.4L15.5 7z" />
      </svg>
      <span>{name}</span>
    </div>
  );
}
