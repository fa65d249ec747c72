/** The picture or the initials of a person. The name stands beside it. */
import type { ReactNode } from "react";
import { type Person, styleOf } from "./people.ts";

const initialsOf = (name: string): string =>
  name
    .split(/\s+/, 2)
    .map((word) => [...word][0] ?? "")
    .join("");

/** A picture that does not load leaves the initials below it. */
export const Avatar = ({ name, picture, color }: Person): ReactNode => (
  <span className="atrium-avatar" style={styleOf({ color })} aria-hidden="true">
    {initialsOf(name)}
    {picture !== undefined && <img src={picture} alt="" />}
  </span>
);
