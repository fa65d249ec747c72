/** Notes: a click selects one, a double click writes in it, and a drag moves it. */

import { isComposing } from "atrium/internal/input-method";
import { useRoom, useStoreActions } from "atrium/react";
import { memo, useEffect, useRef, useState } from "react";
import { isNote } from "../room/items.ts";
import { FAR, frontAbove, heightOf, type Note, paperOf } from "../room/model.ts";
import { useMayWrite, useTyping } from "../room/participants.ts";
import type { Point } from "../room/shape.ts";
import { MAX_LENGTH } from "../room/text.ts";
import { useShown } from "./content.tsx";

export function NoteCards() {
  const { items, holds, isLoading } = useShown();
  const mayEdit = useMayWrite("stores");
  const [hasLoaded, setLoaded] = useState(false);
  useEffect(() => setLoaded(!isLoading), [isLoading]);
  // In the order of their creation: only the style says which is in front, so that no note that is written in leaves its place.
  const inOrder = [...items].sort(([one], [other]) => (one < other ? -1 : 1));
  return (
    <div className="notes">
      {inOrder.map(([id, item]) => {
        if (!isNote(item)) return null;
        const { by = null, width = null } = holds.get(id) ?? {};
        return (
          <NoteCard key={id} id={id} note={item} by={by} width={width} isFixed={!mayEdit} isNew={hasLoaded} />
        );
      })}
    </div>
  );
}

/** Keys begin with the time when they were made. A page that is loaded anew leaves the keyboard alone. */
const isMadeHere = (key: string, userId: string): boolean =>
  key.endsWith(userId) && Number.parseInt(key, 10) >= performance.timeOrigin;

interface CardProps {
  readonly id: string;
  readonly note: Note;
  /** The distance by which it is dragged: in front of all others until it is dropped. */
  readonly by: Point | null;
  /** Its width while that is changed. */
  readonly width: number | null;
  readonly isFixed: boolean;
  /** Whether the board was loaded before it: what counts is its first value. */
  readonly isNew: boolean;
}

/** While dragged, a note's place is presence, which is cheap; when it is dropped, the store keeps it. */
const NoteCard = memo(({ id, note, by, width, isFixed, isNew }: CardProps) => {
  const { client } = useRoom();
  const store = useStoreActions<Note>("notes");
  const typing = useTyping(id);
  const [appears] = useState(isNew);
  const isWriting = useRef(false);
  const key = id.slice("notes:".length);
  const { text, picture } = note;
  const shown = { ...note, width: width ?? note.width };
  const [x, y] = [note.x + (by?.x ?? 0), note.y + (by?.y ?? 0)];
  const write = () => {
    isWriting.current = true;
    client.history.pause(); // what is written at once is one step to undo
  };
  const leave = () => {
    if (!isWriting.current) return;
    isWriting.current = false;
    client.history.resume();
    typing.ended();
  };
  const latest = useRef(leave);
  latest.current = leave;
  useEffect(() => () => latest.current(), []); // a field that is removed loses the focus without an event
  return (
    <article
      className={`note${by && width === null ? " held" : ""}${appears ? " new" : ""}`}
      style={{
        transform: `translate(${x}px, ${y}px)`,
        zIndex: note.front + (by ? 2 * FAR : 0),
        width: shown.width,
        minHeight: heightOf(shown),
      }}
      tabIndex={isFixed ? undefined : 0}
      aria-label={`Note: ${text}`}
      data-item={id}
    >
      <div className="paper" style={{ background: `var(--paper-${paperOf(key, note)})` }}>
        {picture && <img src={client.storage.getUrl({ key: picture })} alt="" draggable={false} />}
        <textarea
          // biome-ignore lint/a11y/noAutofocus: a person who adds a note starts typing
          autoFocus={!isFixed && text === "" && isMadeHere(key, client.userId)}
          tabIndex={-1}
          aria-label="Text"
          placeholder={isFixed ? "" : "Write something"}
          value={text}
          maxLength={MAX_LENGTH}
          readOnly={isFixed}
          onFocus={write}
          onBlur={leave}
          onKeyDown={({ key, nativeEvent, currentTarget }) => {
            if (key === "Escape" && !isComposing(nativeEvent)) currentTarget.closest("article")?.focus();
          }}
          onChange={({ target }) => {
            typing.typed();
            const front = frontAbove(client.store("notes").getAll(), key);
            void store.update(key, { text: target.value, front });
          }}
        />
      </div>
    </article>
  );
});
