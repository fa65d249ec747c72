/** A note, which can be moved by its upper edge, written and deleted. */
import { type StoreEntries, useRoom, useStore } from "atrium/react";
import { type PointerEvent, useCallback, useEffect, useRef } from "react";
import { type Note, type Point, readNote } from "./notes.ts";

export function NoteCard({ id }: { id: string }) {
  const [note, { update, delete: remove }] = useStore("notes", (notes: StoreEntries<Note>) =>
    readNote(notes[id]),
  );
  const { history } = useRoom().client;
  /** Where the pointer holds the note; null while it does not. */
  const grip = useRef<Point | null>(null);
  const drop = useCallback(() => {
    if (grip.current) history.resume();
    grip.current = null;
  }, [history]);
  useEffect(() => drop, [drop]); // someone may delete the note while it is moved
  if (!note) return null;
  const { x, y, text } = note;
  const grab = ({ currentTarget, pointerId, clientX, clientY }: PointerEvent) => {
    currentTarget.setPointerCapture(pointerId);
    grip.current = { x: clientX - x, y: clientY - y };
    history.pause(); // the whole movement is one step to undo
  };
  const move = ({ clientX, clientY }: PointerEvent) => {
    if (grip.current) void update(id, { x: clientX - grip.current.x, y: clientY - grip.current.y });
  };
  return (
    <article style={{ translate: `${x}px ${y}px` }}>
      <header onPointerDown={grab} onPointerMove={move} onLostPointerCapture={drop} />
      <button type="button" aria-label="Delete note" onClick={() => remove(id)}>
        ×
      </button>
      <textarea
        aria-label="Text"
        placeholder="Write something"
        value={text}
        onChange={({ target }) => update(id, { text: target.value })}
      />
    </article>
  );
}
