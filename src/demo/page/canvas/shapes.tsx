/** The shapes on the board, of which one can be selected, and those that are being drawn. */
import { useStore } from "atrium/react";
import { type KeyboardEvent, memo, useSyncExternalStore } from "react";
import { readShape } from "../room/model.ts";
import type { Point, Shape } from "../room/shape.ts";
import { Drafts, Frame } from "./drafts.tsx";
import { pathOf } from "./geometry.ts";
import { boxOf, editOf, placeAfter, SHAPE_KEYS, titleOf } from "./shape-edits.ts";
import type { ShapeSelection } from "./shape-selection.ts";

const elementId = (id: string): string => `shape-${id}`;

/** Moves the focus to a shape, which selects it. */
export const focusShape = (id: string): void => document.getElementById(elementId(id))?.focus();

interface ShapesProps {
  readonly selection: ShapeSelection;
  /** Brings a point of the board into view. */
  readonly reveal: (point: Point) => void;
}

export function Shapes({ selection, reveal }: ShapesProps) {
  const [shapes] = useStore("shapes");
  const {
    id: selected,
    isActive,
    held,
    said,
  } = useSyncExternalStore(selection.subscribe, () => selection.state);
  const ids = Object.keys(shapes).filter((id) => readShape(shapes[id]) !== null);
  const stop = selected !== null && ids.includes(selected) ? selected : ids[0];
  const framed = isActive && stop === selected ? (held ?? readShape(shapes[stop ?? ""])) : null;

  const press = (event: KeyboardEvent) => {
    const edit = editOf(event);
    if (edit === null || stop === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const at = ids.indexOf(stop);
    if (edit.type === "go") focusShape(ids[placeAfter(edit.to, at, ids.length)] ?? stop);
    else if (edit.type === "leave") document.getElementById(elementId(stop))?.blur();
    else {
      const after = selection.edit(edit);
      const next = ids[at + 1] ?? ids[at - 1];
      if (edit.type === "delete" && next !== undefined) focusShape(next);
      else if (after !== null) reveal(middleOf(after));
    }
  };
  return (
    <>
      {ids.length > 0 && (
        <div
          role="listbox"
          aria-label="Shapes"
          aria-description={SHAPE_KEYS}
          tabIndex={-1}
          onKeyDown={press}
          onFocus={({ target }) => {
            const id = ids.find((one) => elementId(one) === target.id);
            const shape = id === undefined ? null : readShape(shapes[id]);
            if (id === undefined || shape === null) return;
            selection.select(id);
            reveal(middleOf(shape));
          }}
          onBlur={() => selection.leave()}
        >
          <svg className="shapes" role="presentation">
            {ids.map((id) => (
              <StoredShape
                key={id}
                {...{ id, value: shapes[id], isStop: id === stop, isSelected: isActive && id === selected }}
                held={id === selected ? held : null}
              />
            ))}
          </svg>
        </div>
      )}
      <svg className="shapes" aria-hidden="true">
        <Drafts />
        {framed && <Frame shape={framed} />}
      </svg>
      <p className="visually-hidden" role="status">
        {said}
      </p>
    </>
  );
}

const middleOf = (shape: Shape): Point => {
  const { x, y, width, height } = boxOf(shape);
  return { x: x + width / 2, y: y + height / 2 };
};

interface StoredShapeProps {
  readonly id: string;
  readonly value: unknown;
  readonly held: Shape | null;
  /** Whether the Tab key reaches it. */
  readonly isStop: boolean;
  readonly isSelected: boolean;
}

/** Of a thousand shapes, only those that change are drawn again. */
const StoredShape = memo(({ id, value, held, isStop, isSelected }: StoredShapeProps) => {
  const shape = held ?? readShape(value);
  return (
    shape && (
      <path
        id={elementId(id)}
        role="option"
        aria-selected={isSelected}
        aria-label={titleOf(shape)}
        tabIndex={isStop ? 0 : -1}
        className={`tint-${shape.tint}`}
        d={pathOf(shape)}
      />
    )
  );
});
