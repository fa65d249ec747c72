/** What a button opens beside itself: closed by Escape, by a click elsewhere, and by a choice. */
import { type ReactNode, type RefObject, useId, useRef, useState } from "react";

const GAP = 8;

/** Places it at its button, on the side with more room, and within the window. */
function placeAt({ left, right, top, bottom }: DOMRect, { style, offsetWidth: width }: HTMLElement): void {
  const isAbove = top > innerHeight - bottom;
  style.left = `${Math.max(Math.min((left + right - width) / 2, innerWidth - width - GAP), GAP)}px`;
  style.top = isAbove ? "auto" : `${bottom + GAP}px`;
  style.bottom = isAbove ? `${innerHeight - top + GAP}px` : "auto";
}

interface BoxProps {
  readonly id?: string | undefined;
  readonly className?: string | undefined;
  readonly box: RefObject<HTMLDivElement | null>;
  readonly children: ReactNode;
  anchor(): Element | null | undefined;
  toggled?(isOpen: boolean): void;
}

export const PopoverBox = ({ id, className = "", box, children, anchor, toggled }: BoxProps) => (
  <div
    ref={box}
    id={id}
    popover="auto"
    className={`popover ${className}`}
    onToggle={({ currentTarget, newState }) => {
      const place = anchor()?.getBoundingClientRect();
      if (newState === "open" && place) placeAt(place, currentTarget);
      toggled?.(newState === "open");
    }}
  >
    {children}
  </div>
);

interface PopoverProps {
  readonly label: string;
  /** The content of the button. */
  readonly face: ReactNode;
  readonly className?: string | undefined;
  /** Gets a function that closes it. */
  readonly children: (close: () => void) => ReactNode;
}

export function Popover({ label, face, className, children }: PopoverProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        ref={button}
        type="button"
        title={label}
        aria-label={label}
        aria-expanded={isOpen}
        popoverTarget={id}
        className={className}
      >
        {face}
      </button>
      <PopoverBox {...{ id, className, box }} anchor={() => button.current} toggled={setOpen}>
        {children(() => box.current?.hidePopover())}
      </PopoverBox>
    </>
  );
}
