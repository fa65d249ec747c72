/** The board: notes, the cursors of the others, and undo. Each component renders only when its own part changes. */
import {
  type StoreEntries,
  useCanRedo,
  useCanUndo,
  useConnection,
  useOther,
  useOthers,
  useRedo,
  useStore,
  useUndo,
  useUpdateMyPresence,
} from "atrium/react";
import { NoteCard } from "./note.tsx";
import { type Note, readCursor, type Shown } from "./notes.ts";

export function Board() {
  const [notes] = useStore("notes", (entries: StoreEntries<Note>) => Object.keys(entries));
  const others = useOthers((members) => members.map(({ user }) => user.id));
  const show = useUpdateMyPresence<Shown>();
  return (
    <>
      <main
        onPointerMove={({ clientX: x, clientY: y }) => show({ cursor: { x, y } })}
        onPointerLeave={() => show({ cursor: null })}
      >
        {notes.map((id) => (
          <NoteCard key={id} id={id} />
        ))}
        {others.map((id) => (
          <Cursor key={id} id={id} />
        ))}
      </main>
      <Tools />
      <Notice />
    </>
  );
}

function Cursor({ id }: { id: string }) {
  const name = useOther(id, ({ user }) => user.name);
  const cursor = useOther(id, readCursor);
  const color = useOther(id, ({ presence }) => String(presence?.color));
  if (!cursor) return null;
  return (
    <p className="cursor" style={{ translate: `${cursor.x}px ${cursor.y}px`, color: color ?? "" }}>
      {name}
    </p>
  );
}

function Tools() {
  const [count, { set }] = useStore("notes", (entries: StoreEntries<Note>) => Object.keys(entries).length);
  const [undo, redo, canUndo, canRedo] = [useUndo(), useRedo(), useCanUndo(), useCanRedo()];
  const add = () =>
    set(crypto.randomUUID(), { x: 40 + (count % 8) * 32, y: 40 + (count % 8) * 32, text: "" });
  return (
    <nav aria-label="Tools">
      <button type="button" onClick={add}>
        Add note
      </button>
      <button type="button" onClick={undo} disabled={!canUndo}>
        Undo
      </button>
      <button type="button" onClick={redo} disabled={!canRedo}>
        Redo
      </button>
    </nav>
  );
}

function Notice() {
  const { state, error } = useConnection();
  const names = useOthers((members) => members.map(({ user }) => user.name));
  const present = names.length === 0 ? "Open this page in a second window." : `With ${names.join(", ")}`;
  return <p role="status">{error?.message ?? (state === "connected" ? present : "Connecting…")}</p>;
}
