/** A note, which can be dragged by its upper edge, edited and deleted. */
import { useMyPresence, useRoom, useStoreActions } from "atrium/react";
import { type PointerEvent, useRef } from "react";
import { MAX_LENGTH, type Note, type Participant, type Presence, placeNote, readNote } from "./model.ts";

/** While dragged, a note's place is presence, which is cheap; when it is dropped, the store keeps it. */
export function NoteCard({
  id,
  value,
  holder,
}: {
  id: string;
  value: unknown;
  holder: Participant | undefined;
}) {
  const { storage, userId } = useRoom().client;
  const store = useStoreActions<Note>("notes");
  const [{ drag }, setPresence] = useMyPresence<Presence>();
  const grip = useRef({ x: 0, y: 0 });
  const dragged = drag?.id === id ? drag : holder?.drag;
  const { text, picture, x, y } = { ...readNote(value), ...dragged };
  const startDrag = ({ currentTarget, pointerId, clientX, clientY }: PointerEvent) => {
    currentTarget.setPointerCapture(pointerId);
    grip.current = { x: clientX - x, y: clientY - y };
  };
  const move = ({ currentTarget, pointerId, clientX, clientY }: PointerEvent) => {
    if (!currentTarget.hasPointerCapture(pointerId)) return;
    setPresence({ drag: { id, ...placeNote({ x: clientX - grip.current.x, y: clientY - grip.current.y }) } });
  };
  const drop = () => void store.update(id, { x, y }).finally(() => setPresence({ drag: null }));
  return (
    <article
      className={`note paper-${Number.parseInt(id, 10) % 5} ${dragged ? "held" : ""}`}
      style={{ transform: `translate(${x}px, ${y}px)`, outlineColor: holder?.color }}
      aria-label={`Note: ${text}`}
    >
      <div className="grip" onPointerDown={startDrag} onPointerMove={move} onLostPointerCapture={drop} />
      <button type="button" aria-label="Delete note" onClick={() => store.delete(id)}>
        ×
      </button>
      {picture && <img src={storage.getUrl({ key: picture })} alt="" draggable={false} />}
      <textarea
        // biome-ignore lint/a11y/noAutofocus: a person who adds a note starts typing
        autoFocus={text === "" && id.endsWith(userId)}
        aria-label="Text"
        placeholder="Write something"
        value={text}
        maxLength={MAX_LENGTH}
        onChange={({ target }) => store.update(id, { text: target.value })}
      />
    </article>
  );
}
