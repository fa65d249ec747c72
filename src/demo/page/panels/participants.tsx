/** The participants, and the link that invites others. */
import { useOthers, useRoom, useSelf } from "atrium/react";
import { isHelper } from "../helpers/company.ts";
import { Share } from "../panels/share.tsx";
import { useFollowedId, useOtherParticipants } from "../room/participants.ts";

/** What follows the visitor's name. */
const HINTS = {
  none: ". Share the link to add others.",
  helpers: ". The helpers are scripts in this page, which leave when others join.",
  users: "",
};

/** Click a participant to follow them: their cursor is highlighted and stays in view. */
export function Participants() {
  const { users } = useRoom().client;
  const name = useSelf(({ user }) => user.name);
  const company = useOthers((others) =>
    others.every(({ user }) => isHelper(user)) ? (others.length === 0 ? "none" : "helpers") : "users",
  );
  const others = useOtherParticipants((all) => all.map(({ id, name, color }) => ({ id, name, color })));
  const followed = useFollowedId();
  const follow = async (id: string) => {
    if (followed) await users.get({ userId: followed })?.unfollow();
    if (id !== followed) await users.get({ userId: id })?.follow();
  };
  return (
    <header>
      <h1>Atrium</h1>
      <p>{name && `You are ${name}${HINTS[company]}`}</p>
      {others.map((other) => (
        <button
          key={other.id}
          type="button"
          className="avatar"
          style={{ color: other.color }}
          title={other.name}
          aria-label={`Follow ${other.name}`}
          aria-pressed={other.id === followed}
          onClick={() => follow(other.id)}
        >
          <span>{other.name.split(" ", 2).map((word) => [...word][0])}</span>
        </button>
      ))}
      <Share />
    </header>
  );
}
