/** `AvatarStack`: the users who are online. */
import type { ReactNode } from "react";
import { type Member, shallowEqual, useOthers, useSelf } from "../react/index.ts";
import { Avatar, type Person } from "./avatar.tsx";
import { useTexts } from "./texts.ts";

interface AvatarStackProps {
  /** The number of avatars; of all others the count is shown. 4 by default. */
  readonly max?: number | undefined;
  /** False to leave out the user who looks at the page; true by default. */
  readonly includeSelf?: boolean | undefined;
}

interface OnlinePerson extends Person {
  readonly id: string;
}

const personOf = ({ user, presence }: Member): OnlinePerson => {
  const { color }: { readonly color?: unknown } = presence ?? {};
  return {
    id: user.id,
    name: user.name,
    picture: user.profile_picture,
    color: typeof color === "string" ? color : undefined,
  };
};

const peopleOf = (members: readonly Member[]): readonly OnlinePerson[] => members.map(personOf);

const areEqual = (a: readonly OnlinePerson[], b: readonly OnlinePerson[]): boolean =>
  a.length === b.length && a.every((person, index) => shallowEqual(person, b[index]));

/** Renders when a user joins, leaves, or looks different, and not when one moves. */
export function AvatarStack({ max = 4, includeSelf = true }: AvatarStackProps): ReactNode {
  const texts = useTexts();
  const self = useSelf(personOf);
  const others = useOthers(peopleOf, areEqual);
  const people = self !== null && includeSelf ? [self, ...others] : others;
  const hidden = people.slice(max);
  return (
    <ul className="atrium atrium-avatars" aria-label={texts.onlineUsers}>
      {people.slice(0, max).map((person) => (
        <li key={person.id}>
          <Avatar {...person} />
          <span className="atrium-tip">{person.name}</span>
        </li>
      ))}
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
