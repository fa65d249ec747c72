/** A button with a menu. The menu stands beside it in the page, so that it belongs to the same part for those who listen. */
import { Menu } from "@base-ui/react/menu";
import { type ReactNode, useRef } from "react";

export interface DropMenuProps {
  /** What the button is called. */
  readonly label: string;
  readonly className: string;
  /** What the button shows. */
  readonly face: ReactNode;
  readonly align?: "start" | "end";
  /** The items. */
  readonly children: ReactNode;
}

export function DropMenu({ label, className, face, align = "start", children }: DropMenuProps) {
  const place = useRef<HTMLSpanElement>(null);
  return (
    <Menu.Root>
      <Menu.Trigger className={className} aria-label={label}>
        {face}
      </Menu.Trigger>
      <span ref={place} className="menu-place" />
      <Menu.Portal container={place}>
        <Menu.Positioner className="above-all" sideOffset={4} align={align}>
          <Menu.Popup className="menu">{children}</Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
