/** The cursors of the others; that of the one whom this user follows stays in view. */
import { useOther, useOthers } from "atrium/react";
import { useEffect } from "react";
import { readParticipant } from "../room/model.ts";
import { useFollowedId } from "../room/participants.ts";
import type { Point } from "../room/shape.ts";

type Reveal = (point: Point) => void;

export function Cursors({ reveal }: { readonly reveal: Reveal }) {
  const ids = useOthers((others) => others.map(({ user }) => user.id));
  return ids.map((id) => <Cursor key={id} id={id} reveal={reveal} />);
}

function Cursor({ id, reveal }: { readonly id: string; readonly reveal: Reveal }) {
  const other = useOther(id);
  const isFollowed = useFollowedId() === id;
  const { cursor, name, color } = other ? readParticipant(other) : { cursor: null, name: "", color: "" };
  useEffect(() => {
    if (isFollowed && cursor !== null) reveal(cursor);
  });
  return (
    <div
      className="cursor"
      hidden={cursor === null}
      style={{ transform: `translate(${cursor?.x}px, ${cursor?.y}px)`, color }}
    >
      <span>{isFollowed ? `Following ${name}` : name}</span>
    </div>
  );
}
