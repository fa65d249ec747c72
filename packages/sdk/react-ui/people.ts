/** The users who are online, as components show them. */
import type { CSSProperties } from "react";
import { type Member, shallowEqual, useOthers } from "../react/index.ts";

export interface Person {
  readonly name: string;
  readonly picture: string | undefined;
  /** Any user can set any text. */
  readonly color?: string | undefined;
}

interface OnlinePerson extends Person {
  readonly id: string;
}

export function personOf({ user, presence }: Member): OnlinePerson {
  const { color }: { readonly color?: unknown } = presence ?? {};
  return {
    id: user.id,
    name: user.name,
    picture: user.profile_picture,
    color: typeof color === "string" ? color : undefined,
  };
}

const peopleOf = (members: readonly Member[]): readonly OnlinePerson[] => members.map(personOf);

const areEqual = (a: readonly OnlinePerson[], b: readonly OnlinePerson[]): boolean =>
  a.length === b.length && a.every((person, index) => shallowEqual(person, b[index]));

/** All others who are online. Renders when one joins, leaves, or looks different, and not when one moves. */
export const useOtherPeople = (): readonly OnlinePerson[] => useOthers(peopleOf, areEqual);

/** Sets the color of a person for the rules of an element, if it is one. */
export const styleOf = ({ color }: Pick<Person, "color">): CSSProperties | undefined =>
  color !== undefined && CSS.supports("color", color)
    ? ({ "--atrium-user": color } as CSSProperties)
    : undefined;
