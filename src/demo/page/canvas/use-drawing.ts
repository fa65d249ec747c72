/** How gestures, pointers and keys change the shapes of the room. */
import { useRoom } from "atrium/react";
import { useMemo } from "react";
import { MAX_SHAPES, readShape } from "../room/model.ts";
import type { Shape } from "../room/shape.ts";
import { distanceTo } from "./geometry.ts";
import type { Drawing } from "./gestures.ts";
import { ShapeSelection } from "./shape-selection.ts";

/** How gestures change the shapes of the room. */
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

/** The selection among the shapes of the room. */
export function useShapeSelection(): ShapeSelection {
  const { client } = useRoom();
  return useMemo(() => {
    const shapes = client.store("shapes");
    return new ShapeSelection({
      list: () =>
        Object.entries(shapes.getAll()).flatMap(([id, value]) => {
          const shape = readShape(value);
          return shape === null ? [] : [[id, shape] as const];
        }),
      put: (id, shape) => void shapes.set(id, shape),
      delete: (id) => void shapes.delete(id),
      show: (draft) => client.presence.update({ draft }),
    });
  }, [client]);
}
