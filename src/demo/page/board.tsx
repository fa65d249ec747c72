/** The board: notes, the other participants' cursors, and the tools. */
import { useRoom, useStore, useUpdateMyPresence } from "atrium/react";
import { type DragEvent, useRef } from "react";
import { Reactions } from "./comments.tsx";
import { BOARD, type Note, type Participant, type Point, type Presence, placeOf } from "./model.ts";
import { NoteCard } from "./note.tsx";
import { useParticipants } from "./users.tsx";

export function Board() {
  const { storage, userId } = useRoom().client;
  const { others, followed } = useParticipants();
  const setPresence = useUpdateMyPresence<Presence>();
  const [notes, store] = useStore<Note>("notes");
  const sheet = useRef<HTMLDivElement>(null);
  const pointAt = (left: number, top: number) => {
    const { x = 0, y = 0 } = sheet.current?.getBoundingClientRect() ?? {};
    return placeOf({ x: left - x, y: top - y });
  };
  const create = (place: Point, picture = "") =>
    store.set(`${Date.now()}-${userId}`, { ...place, text: "", picture });
  const count = Object.keys(notes).length;
  const add = () => create(pointAt(50 + ((210 * count) % (innerWidth / 2)), 150 + ((40 * count) % 300)));
  const drop = async (event: DragEvent) => {
    event.preventDefault();
    const place = pointAt(event.clientX, event.clientY);
    for (const file of event.dataTransfer.files) await create(place, (await storage.upload({ file })).key);
  };
  return (
    <>
      <main
        onPointerMove={(event) => setPresence({ cursor: pointAt(event.clientX, event.clientY) })}
        onPointerLeave={() => setPresence({ cursor: null })}
        onDragOver={(event) => event.preventDefault()}
        onDrop={drop}
      >
        <div className="sheet" ref={sheet} style={BOARD}>
          {Object.entries(notes).map(([id, value]) => (
            <NoteCard key={id} id={id} value={value} holder={others.find(({ drag }) => drag?.id === id)} />
          ))}
          {others.map((other) => (
            <Cursor key={other.id} {...other} isFollowed={other === followed} />
          ))}
        </div>
      </main>
      <nav aria-label="Tools">
        <button type="button" className="primary" onClick={add}>
          Add note
        </button>
        <Reactions />
      </nav>
    </>
  );
}

const Cursor = ({ cursor, name, color, isFollowed }: Participant & { readonly isFollowed: boolean }) => (
  <div
    className="cursor"
    hidden={cursor === null}
    style={{ transform: `translate(${cursor?.x}px, ${cursor?.y}px)`, color }}
    ref={(tip) => void (isFollowed && tip?.scrollIntoView({ block: "nearest", inline: "nearest" }))}
  >
    <span>{isFollowed ? `Following ${name}` : name}</span>
  </div>
);
