/** A map of the participants' cursors, for presence with coordinates. */

import type { PresenceState, User } from "atrium/server";
import { Section } from "../ui/page.tsx";
import { boundsOf, type Point, pointIn } from "./coordinates.ts";

interface CursorMapProps {
  readonly users: readonly User[];
  readonly presences: Readonly<Record<string, PresenceState>>;
}

interface Cursor {
  readonly user: User;
  readonly point: Point;
  readonly color: string;
}

/** From this share of the map's width on, a name stands before its point: after it, there is no room. */
const NAME_IN_FRONT = 0.6;

/** A share of the map's length, so far from its edges that points on them are seen. */
const inside = (share: number): string => `calc(1rem + (100% - 2rem) * ${share})`;

export function CursorMap({ users, presences }: CursorMapProps) {
  const cursors = users.flatMap((user): Cursor[] => {
    const state = presences[user.id];
    const point = pointIn(state);
    return point === null ? [] : [{ user, point, color: String(state?.color) }];
  });
  if (cursors.length === 0) return null;
  const { min, max } = boundsOf(cursors.map(({ point }) => point));
  const across = ({ x }: Point) => (x - min.x) / (max.x - min.x);
  const down = ({ y }: Point) => (y - min.y) / (max.y - min.y);
  const place = (point: Point) => ({ left: inside(across(point)), top: inside(down(point)) });
  return (
    <Section id="cursor-map" title="Cursors">
      <ul className="cursor-map">
        {cursors.map(({ user, point, color }) => (
          <li
            key={user.id}
            className={across(point) > NAME_IN_FRONT ? "name-in-front" : undefined}
            style={place(point)}
          >
            <span className="dot" style={{ background: color }} aria-hidden="true" />
            <span>
              {user.name}
              <span className="hidden">
                {" "}
                at {Math.round(point.x)}, {Math.round(point.y)}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
