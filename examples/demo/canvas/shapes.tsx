/** The shapes on the board, those that are being drawn, and the outlines of what is selected. */
import { memo, useSyncExternalStore } from "react";
import { type Box, isNote } from "../room/items.ts";
import { useOtherParticipants } from "../room/participants.ts";
import { inkOf, type Point, pathOf, type Shape } from "../room/shape.ts";
import { type Hold, shownBox, useShown } from "./content.tsx";
import type { Selection } from "./selection.ts";

export function Shapes({ selection }: { readonly selection: Selection }) {
  const { items, holds } = useShown();
  return (
    <svg className="shapes" aria-hidden="true">
      {[...items].map(
        ([id, item]) => isNote(item) || <Line key={id} shape={item} by={holds.get(id)?.by ?? null} />,
      )}
      <Drafts selection={selection} />
      <Outlines selection={selection} />
    </svg>
  );
}

interface LineProps {
  readonly shape: Shape;
  readonly by?: Point | null;
}

/** Only changed shapes are drawn again, however many there are. */
const Line = memo(({ shape, by = null }: LineProps) => (
  <path
    stroke={inkOf(shape.tint)}
    d={pathOf(shape)}
    transform={by ? `translate(${by.x} ${by.y})` : undefined}
  />
));

/** While it is drawn, a shape is presence, which is cheap; when the pointer goes up, the store keeps it. */
function Drafts({ selection }: { readonly selection: Selection }) {
  const { draft } = useSyncExternalStore(selection.subscribe, () => selection.state);
  const others = useOtherParticipants((all) => all.flatMap((other) => other.draft ?? []));
  return [draft, ...others].map((shape, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: drafts have no identity
    shape && shape.points.length > 3 ? <Line key={index} shape={shape} /> : null,
  );
}

/** A line around each item that someone has selected, in their color. */
function Outlines({ selection }: { readonly selection: Selection }) {
  const shown = useShown();
  const { marquee } = useSyncExternalStore(selection.subscribe, () => selection.state);
  return (
    <>
      {[...shown.holds].map(([id, hold]) => {
        const [item, box] = [shown.items.get(id), shownBox(shown, id)];
        return item && box && <Outline key={id} box={box} hold={hold} isNote={isNote(item)} />;
      })}
      {marquee && <rect className="marquee" {...marquee} />}
    </>
  );
}

interface OutlineProps {
  readonly box: Box;
  readonly hold: Hold;
  readonly isNote: boolean;
}

/** Close around a note, with which it tilts while that is dragged; around a shape, beside its thick line. */
function Outline({ box, hold: { color, by, width }, isNote }: OutlineProps) {
  const margin = isNote ? 1 : 5;
  return (
    <rect
      className={isNote && by !== null && width === null ? "outline tilted" : "outline"}
      x={box.x - margin}
      y={box.y - margin}
      width={box.width + 2 * margin}
      height={box.height + 2 * margin}
      rx={5}
      stroke={color ?? undefined}
    />
  );
}
