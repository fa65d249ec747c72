/** The frame around the board while this visitor follows someone, in that one's color. */
import { type Member, useOther, useRoom, useSelf } from "atrium/react";
import { useEffect } from "react";
import { readParticipant } from "../room/model.ts";
import { unfollowAll } from "../room/participants.ts";

const nameOf = ({ user }: Member): string => user.name;
const colorOf = (member: Member): string => readParticipant(member).color;

/** Escape ends it, unless it means something else where it is pressed. */
export function Following() {
  const { client } = useRoom();
  const id = useSelf(({ user }) => user.following[0] ?? "") ?? "";
  const name = useOther(id, nameOf);
  const color = useOther(id, colorOf);
  const isFollowing = name !== null;
  useEffect(() => {
    if (!isFollowing) return;
    const end = ({ key, target }: KeyboardEvent) => {
      const isElsewhere =
        target instanceof Element && target.closest("input, textarea, dialog, [popover], .side");
      if (key === "Escape" && !isElsewhere) void unfollowAll(client);
    };
    addEventListener("keydown", end);
    return () => removeEventListener("keydown", end);
  }, [client, isFollowing]);
  if (name === null || color === null) return null;
  return (
    <button
      type="button"
      className="following"
      style={{ color, background: color }}
      onClick={() => unfollowAll(client)}
    >
      <span>Following {name} · Esc</span>
    </button>
  );
}
