/** The participants, and the button that shares the board with others. */
import type { User } from "atrium/client";
import { useOthers, useRoom, useSelf } from "atrium/react";
import { AvatarStack } from "atrium/react-ui";
import { isNarrow } from "../canvas/camera.ts";
import { isHelper } from "../helpers/helpers.ts";
import { unfollowAll, useLevel } from "../room/participants.ts";
import { DialogButton } from "./connection-bar.tsx";

/** The text after the name of a visitor who may not edit. */
const LIMITS = { view: " (view only)", comment: " (comments only)" };

const ALONE = ". Share the link to add others.";
const WITH_HELPERS = ". The helpers are scripts in this page, which leave when others join.";

/** Click a participant to follow them: their cursor is highlighted and stays in view. */
export function Participants() {
  const { client } = useRoom();
  const name = useSelf(({ user }) => user.name);
  const company = useOthers((others) => {
    if (others.length === 0) return ALONE;
    return others.every(({ user }) => isHelper(user)) ? WITH_HELPERS : "";
  });
  const following = useSelf(({ user }) => user.following) ?? [];
  const level = useLevel();
  const hint = level === null || level === "edit" ? company : LIMITS[level];
  const follow = async (user: User) => {
    await unfollowAll(client);
    if (!following.includes(user.id)) await user.follow();
  };
  return (
    <header>
      <h1>Atrium</h1>
      <p>{name && `You are ${name}${hint}`}</p>
      <AvatarStack
        max={isNarrow() ? 3 : 8}
        includeSelf={false}
        onAvatarClick={follow}
        pressed={following}
        label={(other) => `Follow ${other}`}
      />
      <DialogButton label="Share" className="primary" load={() => import("./share.tsx")} />
    </header>
  );
}
