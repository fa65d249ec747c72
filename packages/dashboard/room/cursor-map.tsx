/** Where users are on a plane: faces that glide, each with a trail of the last second. */
import type { PresenceState, User } from "atrium/server";
import { useEffect, useRef, useState } from "react";
import { colorOf } from "../people/faces.tsx";
import { Monogram } from "../ui/button.tsx";
import { arrange, boundsOf, centerOf, pointIn } from "./presence.ts";

export type Presences = Readonly<Record<string, PresenceState>>;

type Placed = Parameters<typeof arrange>[0][number] & { readonly color: string };

const spot = ({ name, point }: Placed): string =>
  `${name} at ${Math.round(point.x).toLocaleString("en")}, ${Math.round(point.y).toLocaleString("en")}`;

interface CursorMapProps {
  readonly users: readonly User[];
  readonly presences: Presences;
}

/** A face for each user who shows a position, with names where there is room; nothing while no one does. */
export function CursorMap({ users, presences }: CursorMapProps) {
  const cursors = users.flatMap(({ id, name }): Placed[] => {
    const point = pointIn(presences[id]);
    return point === null ? [] : [{ id, name, point, color: colorOf(id, presences[id]) }];
  });
  return cursors.length === 0 ? null : <Plane cursors={cursors} />;
}

/** A size before the first layout is known. */
const NO_SIZE = { width: 0, height: 0 };

function Plane({ cursors }: { readonly cursors: readonly Placed[] }) {
  const box = useRef<HTMLUListElement>(null);
  const [size, setSize] = useState(NO_SIZE);
  useEffect(() => {
    if (box.current === null) return;
    const watch = new ResizeObserver(([entry]) => entry && setSize(entry.contentRect));
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  const bounds = boundsOf(cursors.map(({ point }) => point));
  const markers = size === NO_SIZE ? [] : arrange(cursors, bounds, size);
  return (
    <div className="cursor-plane">
      {size !== NO_SIZE && <Trails {...{ cursors, bounds, size }} />}
      <ul className="cursor-map" ref={box} aria-label="Map of cursors">
        {markers.map(({ cursors: [first, ...others], face: { left, top }, label, name }) => {
          if (first === undefined) return null;
          const spots = [first, ...others].map(spot).join("\n");
          return (
            <li key={first.id} className="face" style={{ left, top, borderColor: first.color }} title={spots}>
              <Monogram name={first.name} count={others.length + 1} isRound />
              <span className="hidden">{spots}</span>
              {name && (
                <span
                  className="cursor-name"
                  style={{ left: name.left - left, top: name.top - top, maxWidth: name.width }}
                  aria-hidden="true"
                >
                  {label}
                </span>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

const TRAIL_MS = 1_000;
/** The time that a face takes to its next place, by which its trail is behind. */
const GLIDE_MS = 150;

interface Step {
  readonly point: Placed["point"];
  readonly at: number;
}

interface TrailsProps {
  readonly cursors: readonly Placed[];
  readonly bounds: ReturnType<typeof boundsOf>;
  readonly size: typeof NO_SIZE;
}

/** The ways of the cursors within the last second; none under reduced motion. */
function Trails({ cursors, bounds, size }: TrailsProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const ways = useRef(new Map<string, Step[]>());
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const now = performance.now();
    for (const { id, point } of cursors) {
      const steps = ways.current.get(id) ?? [];
      const last = steps.at(-1);
      if (last?.point.x !== point.x || last.point.y !== point.y) steps.push({ point, at: now });
      ways.current.set(id, steps);
    }
    let frame = 0;
    const draw = () => {
      context.clearRect(0, 0, size.width, size.height);
      const time = performance.now() - GLIDE_MS;
      const areMoving = cursors.map(({ id, color }) => {
        const steps = (ways.current.get(id) ?? []).filter(({ at }) => at > time - TRAIL_MS);
        ways.current.set(id, steps);
        context.strokeStyle = color;
        for (const [index, { point, at }] of steps.entries()) {
          const before = steps[index - 1];
          if (before === undefined || at > time) continue;
          context.globalAlpha = 0.6 * Math.max(0, 1 - (time - before.at) / TRAIL_MS);
          context.beginPath();
          const [from, to] = [centerOf(before.point, bounds, size), centerOf(point, bounds, size)];
          context.moveTo(from.x, from.y);
          context.lineTo(to.x, to.y);
          context.stroke();
        }
        return steps.length > 1;
      });
      if (areMoving.includes(true)) frame = requestAnimationFrame(draw);
    };
    context.lineWidth = 3;
    context.lineCap = "round";
    draw();
    return () => cancelAnimationFrame(frame);
  }, [cursors, bounds, size]);
  return <canvas ref={canvas} width={size.width} height={size.height} />;
}
