/** Notes, which can be dragged by their upper edge, edited and deleted. */
import { useMyPresence, useRoom, useStore, useStoreActions } from "atrium/react";
import { type KeyboardEvent, memo, type PointerEvent, useRef } from "react";
import { MAX_LENGTH, type Note, type Participant, type Presence, placeOf, readNote } from "../room/model.ts";
import { useOtherParticipants, useTyping, useTypists } from "../room/participants.ts";
import type { Camera } from "./camera.ts";

export function NoteCards({ camera }: { readonly camera: Camera }) {
  const [notes] = useStore<Note>("notes");
  const holders = useOtherParticipants((others) =>
    others.flatMap(({ color, drag }) => (drag ? [{ color, drag }] : [])),
  );
  return Object.entries(notes).map(([id, value]) => (
    <NoteCard
      key={id}
      id={id}
      value={value}
      camera={camera}
      {...holders.find(({ drag }) => drag.id === id)}
    />
  ));
}

interface CardProps extends Partial<Pick<Participant, "color" | "drag">> {
  readonly id: string;
  readonly value: unknown;
  readonly camera: Camera;
}

/** The step of an arrow key for a note. */
const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-20, 0],
  ArrowRight: [20, 0],
  ArrowUp: [0, -20],
  ArrowDown: [0, 20],
};

/** While dragged, a note's place is presence, which is cheap; when it is dropped, the store keeps it. */
const NoteCard = memo(({ id, value, camera, color, drag: holder }: CardProps) => {
  const { client } = useRoom();
  const store = useStoreActions<Note>("notes");
  const [{ drag }, setPresence] = useMyPresence<Presence>();
  const grip = useRef({ x: 0, y: 0 });
  const typing = useTyping(id);
  const typists = useTypists(id);
  const dragged = drag?.id === id ? drag : holder;
  const { text, picture, x, y } = { ...readNote(value), ...dragged };
  const onBoard = ({ clientX, clientY }: PointerEvent) => camera.toBoard({ x: clientX, y: clientY });
  const startDrag = (event: PointerEvent) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    const at = onBoard(event);
    grip.current = { x: at.x - x, y: at.y - y };
  };
  const move = (event: PointerEvent) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const at = onBoard(event);
    setPresence({ drag: { id, ...placeOf({ x: at.x - grip.current.x, y: at.y - grip.current.y }) } });
  };
  const drop = () => {
    if (drag?.id === id) void store.update(id, { x, y }).finally(() => setPresence({ drag: null }));
  };
  const step = (event: KeyboardEvent) => {
    const [right, down] = STEPS[event.key] ?? [0, 0];
    if (right === 0 && down === 0) return;
    event.preventDefault();
    void store.update(id, placeOf({ x: x + right, y: y + down }));
  };
  return (
    <article
      className={`note paper-${Number.parseInt(id, 10) % 5} ${dragged ? "held" : ""}`}
      style={{ transform: `translate(${x}px, ${y}px)`, outlineColor: color }}
      aria-label={`Note: ${text}`}
    >
      <button
        type="button"
        className="grip"
        aria-label="Move note"
        aria-description="Drag it, or press the arrow keys"
        onPointerDown={startDrag}
        onPointerMove={move}
        onLostPointerCapture={drop}
        onKeyDown={step}
      />
      <button type="button" aria-label="Delete note" onClick={() => store.delete(id)}>
        ×
      </button>
      {picture && <img src={client.storage.getUrl({ key: picture })} alt="" draggable={false} />}
      <textarea
        // biome-ignore lint/a11y/noAutofocus: a person who adds a note starts typing
        autoFocus={text === "" && id.endsWith(client.userId)}
        aria-label="Text"
        placeholder="Write something"
        value={text}
        maxLength={MAX_LENGTH}
        onFocus={() => client.history.pause()} // what is written at once is one step to undo
        onBlur={() => {
          client.history.resume();
          typing.ended();
        }}
        onChange={({ target }) => {
          typing.typed();
          void store.update(id, { text: target.value });
        }}
      />
      {typists && <span className="typists">{typists}</span>}
    </article>
  );
});
