/** A panel beside the board, which is a sheet on a phone. Escape closes it; the keys of the board go on. */

import { isComposing } from "atrium/internal/input-method";
import { type ReactNode, useEffect, useRef } from "react";

interface SideProps {
  readonly title: string;
  readonly children: ReactNode;
  close(): void;
}

export default function Side({ title, children, close }: SideProps) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    // A panel that was slow to load does not interrupt who has gone on to write.
    if (!document.activeElement?.matches("input, textarea")) panel.current?.focus();
  }, []);
  return (
    <aside
      ref={panel}
      className="side"
      aria-label={title}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        if (!isComposing(event.nativeEvent)) close();
      }}
    >
      <div className="side-head">
        <h2>{title}</h2>
        <button type="button" className="close" aria-label={`Close ${title.toLowerCase()}`} onClick={close}>
          ×
        </button>
      </div>
      {children}
    </aside>
  );
}
