/** Where the participants are, if their presence has coordinates: a map of their cursors. */
import type { PresenceState, User } from "atrium/server";
import { boundsOf, type Point, pointIn } from "./coordinates.ts";

export interface CursorMapProps {
  readonly users: readonly User[];
  readonly presences: Readonly<Record<string, PresenceState>>;
}

interface Cursor {
  readonly user: User;
  readonly point: Point;
  readonly color: string;
}

export function CursorMap({ users, presences }: CursorMapProps) {
  const cursors = users.flatMap((user): Cursor[] => {
    const state = presences[user.id];
    const point = pointIn(state);
    return point === null ? [] : [{ user, point, color: String(state?.color) }];
  });
  if (cursors.length === 0) return null;
  const { min, max } = boundsOf(cursors.map(({ point }) => point));
  const place = ({ x, y }: Point) => ({
    left: `${(100 * (x - min.x)) / (max.x - min.x)}%`,
    top: `${(100 * (y - min.y)) / (max.y - min.y)}%`,
  });
  return (
    <section aria-labelledby="cursor-map">
      <h2 id="cursor-map">Cursors</h2>
      <ul className="cursor-map">
        {cursors.map(({ user, point, color }) => (
          <li key={user.id} style={place(point)}>
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
    </section>
  );
}
