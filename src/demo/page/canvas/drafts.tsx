/** What is drawn over the shapes: those that are being drawn, and the frame of the selected one. */
import { useMyPresence } from "atrium/react";
import type { Presence } from "../room/model.ts";
import { useOtherParticipants } from "../room/participants.ts";
import type { Shape } from "../room/shape.ts";
import { pathOf } from "./geometry.ts";
import { boxOf } from "./shape-edits.ts";

/** Around the selected shape, with the corner that resizes it: of the same size however large the board is shown. */
export function Frame({ shape }: { readonly shape: Shape }) {
  const { x, y, width, height } = boxOf(shape);
  return (
    <g className="frame">
      <rect {...{ x, y, width, height }} />
      <circle
        r="7"
        style={{ transform: `translate(${x + width}px, ${y + height}px) scale(calc(1 / var(--zoom)))` }}
      />
    </g>
  );
}

/** While it is drawn, a shape is presence, which is cheap; when the pointer goes up, the store keeps it. */
export function Drafts() {
  const [{ draft }] = useMyPresence<Presence>();
  const others = useOtherParticipants((all) => all.flatMap((other) => other.draft ?? []));
  return [draft ?? null, ...others].map(
    (shape, index) =>
      shape && (
        // biome-ignore lint/suspicious/noArrayIndexKey: drafts have no identity
        <path key={index} className={`tint-${shape.tint}`} d={pathOf(shape)} />
      ),
  );
}
