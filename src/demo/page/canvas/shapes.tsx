/** The shapes on the board, and those that are being drawn. */
import { useMyPresence, useRoom, useStore } from "atrium/react";
import { memo, useMemo } from "react";
import { type Presence, readShape } from "../room/model.ts";
import { useOtherParticipants } from "../room/participants.ts";
import { distanceTo, pathOf, type Shape } from "../room/shape.ts";
import type { Drawing } from "./gestures.ts";

export function Shapes() {
  const [shapes] = useStore("shapes");
  return (
    <svg className="shapes" aria-hidden="true">
      {Object.entries(shapes).map(([id, value]) => (
        <StoredShape key={id} value={value} />
      ))}
      <Drafts />
    </svg>
  );
}

const Line = ({ shape }: { readonly shape: Shape | null }) =>
  shape && shape.points.length > 3 && <path className={`tint-${shape.tint}`} d={pathOf(shape)} />;

/** Only changed shapes are drawn again, however many there are. */
const StoredShape = memo(({ value }: { readonly value: unknown }) => <Line shape={readShape(value)} />);

/** While it is drawn, a shape is presence, which is cheap; when the pointer goes up, the store keeps it. */
function Drafts() {
  const [{ draft }] = useMyPresence<Presence>();
  const others = useOtherParticipants((all) => all.flatMap((other) => other.draft ?? []));
  return [draft ?? null, ...others].map((shape, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: drafts have no identity
    <Line key={index} shape={shape} />
  ));
}

const MAX_SHAPES = 500;

/** Changes of the room's shapes by gestures. */
export function useDrawing(): Drawing {
  const { client } = useRoom();
  return useMemo(() => {
    const { presence, history } = client;
    const shapes = client.store("shapes");
    let drawn = 0;
    let shown: Shape | null = null;
    const show = (draft: Shape | null) => {
      shown = draft;
      presence.update({ draft });
    };
    return {
      show,
      begin: () => history.pause(),
      end: () => history.resume(),
      async add(shape) {
        drawn += 1;
        const { length } = Object.keys(shapes.getAll());
        if (length >= MAX_SHAPES) {
          show(null);
          throw new Error("The board is full. Erase some shapes first.");
        }
        await shapes.set(`${Date.now()}-${drawn}-${client.userId}`, shape).finally(() => {
          if (shown === shape) show(null);
        });
      },
      erase(at, distance) {
        for (const [id, value] of Object.entries(shapes.getAll())) {
          const shape = readShape(value);
          if (shape === null || distanceTo(shape, at) < distance) void shapes.delete(id);
        }
      },
    };
  }, [client]);
}
