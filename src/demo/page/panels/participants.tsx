/** The participants, and the button that shares the board with others. */
import { useOthers, useRoom, useSelf } from "atrium/react";
import { isHelper } from "../helpers/company.ts";
import { useFollowedId, useLevel, useOtherParticipants } from "../room/participants.ts";
import { IS_GUEST } from "../room/visitor.ts";
import { DialogButton } from "./strip.tsx";

/** The text after the name of a visitor who may not edit. */
const LIMITS = { view: " (view only)", comment: " (comments only)" };

/** The text after the name of another one. */
const HINTS = {
  none: ". Share the link to add others.",
  helpers: ". The helpers are scripts in this page, which leave when others join.",
  users: "",
};

/** Of more participants, the number is shown. */
const MAX_AVATARS = 8;

/** Click a participant to follow them: their cursor is highlighted and stays in view. */
export function Participants() {
  const { users } = useRoom().client;
  const name = useSelf(({ user }) => user.name);
  const company = useOthers((others) =>
    others.every(({ user }) => isHelper(user)) ? (others.length === 0 ? "none" : "helpers") : "users",
  );
  const others = useOtherParticipants((all) => all.map(({ id, name, color }) => ({ id, name, color })));
  const followed = useFollowedId();
  const level = useLevel();
  const hint = level === null || level === "edit" ? HINTS[IS_GUEST ? "users" : company] : LIMITS[level];
  const follow = async (id: string) => {
    if (followed) await users.get({ userId: followed })?.unfollow();
    if (id !== followed) await users.get({ userId: id })?.follow();
  };
  return (
    <header>
      <h1>Atrium</h1>
      <p>{name && `You are ${name}${hint}`}</p>
      {others.slice(0, MAX_AVATARS).map((other) => (
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
      {others.length > MAX_AVATARS && <span>+{others.length - MAX_AVATARS}</span>}
      {!IS_GUEST && <DialogButton label="Share" className="primary" load={() => import("./share.tsx")} />}
    </header>
  );
}
