/** `AvatarStack`: the users who are online. */
import type { ReactNode } from "react";
import type { User } from "../client/index.ts";
import { useRoom, useSelf } from "../react/index.ts";
import { Avatar } from "./avatar.tsx";
import { personOf, useOtherPeople } from "./people.ts";
import { useTexts } from "./texts.ts";

interface AvatarStackProps {
  /** The number of avatars, 4 by default; the others are counted. */
  readonly max?: number | undefined;
  /** False to leave out the user who looks at the page; true by default. */
  readonly includeSelf?: boolean | undefined;
  /** Makes each avatar a button, and is called with its user. */
  readonly onAvatarClick?: ((user: User) => void) | undefined;
  /** The IDs of the users whose buttons are pressed. */
  readonly pressed?: readonly string[] | undefined;
  /** The effect of a click, by the user's name and ID, such as "Follow Ada"; the name alone by default. */
  readonly label?: ((name: string, id: string) => string) | undefined;
}

/** Renders when a user joins, leaves, or looks different, and not when one moves. */
export function AvatarStack(props: AvatarStackProps): ReactNode {
  const { max = 4, includeSelf = true, onAvatarClick, pressed, label = (name) => name } = props;
  const texts = useTexts();
  const { users } = useRoom().client;
  const self = useSelf(personOf);
  const others = useOtherPeople();
  const people = self !== null && includeSelf ? [self, ...others] : others;
  const hidden = people.slice(max);
  const choose = (userId: string) => {
    const user = users.get({ userId });
    if (user !== null) onAvatarClick?.(user);
  };
  return (
    <ul className="atrium atrium-avatars" aria-label={texts.onlineUsers}>
      {people.slice(0, max).map((person) => {
        const { id, name } = person;
        const shown = (
          <>
            <Avatar {...person} />
            <span className="atrium-tip">{label(name, id)}</span>
          </>
        );
        return (
          <li key={id}>
            {onAvatarClick ? (
              <button type="button" aria-pressed={pressed?.includes(id)} onClick={() => choose(id)}>
                {shown}
              </button>
            ) : (
              shown
            )}
          </li>
        );
      })}
      {hidden.length > 0 && (
        <li>
          <span className="atrium-avatar" aria-hidden="true">
            +{hidden.length}
          </span>
          <span className="atrium-tip">{texts.moreUsers(hidden.map(({ name }) => name))}</span>
        </li>
      )}
    </ul>
  );
}
