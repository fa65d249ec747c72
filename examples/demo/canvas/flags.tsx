/** The names of the others at what they have selected, or write in. */
import { shownBox, useShown } from "./content.tsx";

export function Flags() {
  const shown = useShown();
  return [...shown.holds].map(([id, { flag }]) => {
    const box = flag && shownBox(shown, id);
    return (
      box && (
        <div key={id} className="flag" style={{ transform: `translate(${box.x}px, ${box.y}px)` }}>
          <span style={{ background: flag.color }}>{flag.text}</span>
        </div>
      )
    );
  });
}
