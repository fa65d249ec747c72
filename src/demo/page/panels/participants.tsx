/** The participants, and the button that shares the board with others. */
import type { User } from "atrium/client";
import { useOthers, useRoom, useSelf } from "atrium/react";
import { AvatarStack } from "atrium/react-ui";
import { isNarrow } from "../canvas/camera.ts";
import { isHelper } from "../helpers/company.ts";
import { useLevel } from "../room/participants.ts";
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
const MAX_AVATARS = { wide: 8, narrow: 3 };

/** Click a participant to follow them: their cursor is highlighted and stays in view. */
export function Participants() {
  const { users } = useRoom().client;
  const name = useSelf(({ user }) => user.name);
  const company = useOthers((others) =>
    others.every(({ user }) => isHelper(user)) ? (others.length === 0 ? "none" : "helpers") : "users",
  );
  const following = useSelf(({ user }) => user.following) ?? [];
  const level = useLevel();
  const hint = level === null || level === "edit" ? HINTS[IS_GUEST ? "users" : company] : LIMITS[level];
  const follow = async (user: User) => {
    for (const userId of following) await users.get({ userId })?.unfollow();
    if (!following.includes(user.id)) await user.follow();
  };
  return (
    <header>
      <h1>Atrium</h1>
      <p>{name && `You are ${name}${hint}`}</p>
      <AvatarStack
        max={isNarrow() ? MAX_AVATARS.narrow : MAX_AVATARS.wide}
        includeSelf={false}
        onAvatarClick={follow}
        pressed={following}
        label={(other) => `Follow ${other}`}
      />
      {!IS_GUEST && <DialogButton label="Share" className="primary" load={() => import("./share.tsx")} />}
    </header>
  );
}
