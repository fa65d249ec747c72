/** The board: its notes, everybody's cursor, and the tools. It scrolls as any page does. */
import { usePresence, useRoom, useStore } from "atrium/react";
import { type DragEvent, useRef } from "react";
import { Reactions } from "./comments.tsx";
import { BOARD, type Note, type Person, type Point, placeOf, type Shown } from "./model.ts";
import { NoteCard } from "./note.tsx";
import { useEverybody } from "./users.tsx";

export function Board() {
  const { storage, userId } = useRoom().client;
  const { others, followed } = useEverybody();
  const [, show] = usePresence<Shown>();
  const [notes, store] = useStore<Note>("notes");
  const sheet = useRef<HTMLDivElement>(null);
  const placeUnder = (left: number, top: number) => {
    const { x = 0, y = 0 } = sheet.current?.getBoundingClientRect() ?? {};
    return placeOf({ x: left - x, y: top - y });
  };
  const put = (place: Point, picture = "") =>
    store.set(`${Date.now()}-${userId}`, { ...place, text: "", picture });
  const count = Object.keys(notes).length;
  const add = () => put(placeUnder(50 + ((210 * count) % (innerWidth / 2)), 150 + ((40 * count) % 300)));
  const drop = async (event: DragEvent) => {
    event.preventDefault();
    const place = placeUnder(event.clientX, event.clientY);
    for (const file of event.dataTransfer.files) await put(place, (await storage.upload({ file })).key);
  };
  return (
    <>
      <main
        onPointerMove={(event) => show({ cursor: placeUnder(event.clientX, event.clientY) })}
        onPointerLeave={() => show({ cursor: null })}
        onDragOver={(event) => event.preventDefault()}
        onDrop={drop}
      >
        <div className="sheet" ref={sheet} style={BOARD}>
          {Object.entries(notes).map(([id, value]) => (
            <NoteCard key={id} id={id} value={value} holder={others.find(({ drag }) => drag?.id === id)} />
          ))}
          {others.map((person) => (
            <Cursor key={person.id} {...person} isFollowed={person === followed} />
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

const Cursor = ({ cursor, name, color, isFollowed }: Person & { readonly isFollowed: boolean }) => (
  <div
    className="cursor"
    hidden={cursor === null}
    style={{ transform: `translate(${cursor?.x}px, ${cursor?.y}px)`, color }}
    ref={(tip) => void (isFollowed && tip?.scrollIntoView({ block: "nearest", inline: "nearest" }))}
  >
    <span>{isFollowed ? `Following ${name}` : name}</span>
  </div>
);
