/** A button with a menu. */
import { Menu } from "@base-ui/react/menu";
import { type ReactNode, useRef } from "react";
import { Icon } from "./button.tsx";

interface DropMenuProps {
  /** The accessible name of the button. */
  readonly label: string;
  readonly className: string;
  /** The content of the button. */
  readonly face: ReactNode;
  readonly align?: "start" | "end";
  /** The items. */
  readonly children: ReactNode;
}

/** The menu is rendered next to the button, so that screen readers find it in the same landmark. */
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

/** The further actions on what a page shows, beside its one primary button. */
export const MoreMenu = ({ children }: Pick<DropMenuProps, "children">) => (
  <DropMenu label="More actions" className="button plain" face={<Icon name="more" />} align="end">
    {children}
  </DropMenu>
);
