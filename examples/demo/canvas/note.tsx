/** Notes, which can be dragged, edited and deleted. */

import { isComposing } from "atrium/internal/input-method";
import { useRoom, useStoreActions } from "atrium/react";
import { memo } from "react";
import { isNote } from "../room/items.ts";
import { MAX_LENGTH, type Note } from "../room/model.ts";
import { useMayWrite, useTyping, useTypistsByPlace } from "../room/participants.ts";
import type { Point } from "../room/shape.ts";
import { useShown } from "./content.tsx";

export function NoteCards() {
  const { items, holds } = useShown();
  const typists = useTypistsByPlace();
  const mayEdit = useMayWrite("stores");
  return [...items].map(
    ([id, item]) =>
      isNote(item) && (
        <NoteCard
          key={id}
          id={id}
          note={item}
          by={holds.get(id)?.by ?? null}
          isFixed={!mayEdit}
          typists={typists.get(id) ?? ""}
        />
      ),
  );
}

interface CardProps {
  readonly id: string;
  readonly note: Note;
  /** The distance by which it is dragged. */
  readonly by: Point | null;
  readonly isFixed: boolean;
  readonly typists: string;
}

/** While dragged, a note's place is presence, which is cheap; when it is dropped, the store keeps it. */
const NoteCard = memo(({ id, note, by, isFixed, typists }: CardProps) => {
  const { client } = useRoom();
  const store = useStoreActions<Note>("notes");
  const typing = useTyping(id);
  const key = id.slice("notes:".length);
  const { text, picture } = note;
  const [x, y] = [note.x + (by?.x ?? 0), note.y + (by?.y ?? 0)];
  return (
    <article
      className={by ? "note held" : "note"}
      style={{
        transform: `translate(${x}px, ${y}px)`,
        background: `var(--paper-${Number.parseInt(key, 10) % 5})`,
      }}
      aria-label={`Note: ${text}`}
      data-item={id}
    >
      {isFixed || (
        <>
          <button
            type="button"
            className="grip"
            aria-label="Move note"
            aria-description="Drag it, or press the arrow keys"
          />
          <button type="button" className="close" aria-label="Delete note" onClick={() => store.delete(key)}>
            ×
          </button>
        </>
      )}
      {picture && <img src={client.storage.getUrl({ key: picture })} alt="" draggable={false} />}
      <textarea
        // biome-ignore lint/a11y/noAutofocus: a person who adds a note starts typing
        autoFocus={!isFixed && text === "" && key.endsWith(client.userId)}
        aria-label="Text"
        placeholder={isFixed ? "" : "Write something"}
        value={text}
        maxLength={MAX_LENGTH}
        readOnly={isFixed}
        onFocus={() => client.history.pause()} // what is written at once is one step to undo
        onBlur={() => {
          client.history.resume();
          typing.ended();
        }}
        onKeyDown={({ key, nativeEvent, currentTarget }) =>
          key === "Escape" && !isComposing(nativeEvent) && currentTarget.blur()
        }
        onChange={({ target }) => {
          typing.typed();
          void store.update(key, { text: target.value });
        }}
      />
      {typists && <span className="typists">{typists}</span>}
    </article>
  );
});
