/** The picture or the initials of a person. The name stands beside it. */
import type { CSSProperties, ReactNode } from "react";

export interface Person {
  readonly name: string;
  readonly picture: string | undefined;
  /** The color of the ring; any user can set any text. */
  readonly color?: string | undefined;
}

const initialsOf = (name: string): string =>
  name
    .split(/\s+/, 2)
    .map((word) => [...word][0] ?? "")
    .join("");

/** A picture that does not load leaves the initials below it. */
export function Avatar({ name, picture, color }: Person): ReactNode {
  const style = color === undefined ? undefined : ({ "--atrium-user": color } as CSSProperties);
  return (
    <span className="atrium-avatar" style={style} aria-hidden="true">
      {initialsOf(name)}
      {picture !== undefined && <img src={picture} alt="" />}
    </span>
  );
}
