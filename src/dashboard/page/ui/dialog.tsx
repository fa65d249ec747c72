/** A modal dialog, which traps the focus. */
import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { Icon } from "./button.tsx";

export interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** A description in one sentence. */
  readonly about?: ReactNode;
  readonly isWide?: boolean;
  /** Closed only by its own buttons, because it shows something that is shown once. */
  readonly isSticky?: boolean;
  readonly children: ReactNode;
}

export const Dialog = ({
  title,
  isOpen,
  onClose,
  about,
  isWide,
  isSticky = false,
  children,
}: DialogProps) => (
  <Base.Root
    open={isOpen}
    disablePointerDismissal={isSticky}
    onOpenChange={(next, details) => {
      if (next || (isSticky && details.reason === "escape-key")) return;
      onClose();
    }}
  >
    <Base.Portal>
      <Base.Backdrop className="backdrop" />
      <Base.Popup className={isWide ? "dialog wide" : "dialog"}>
        <Base.Title>{title}</Base.Title>
        {about && <Base.Description className="soft">{about}</Base.Description>}
        {children}
        {/* Last, so that the focus starts at the dialog's first field. */}
        {!isSticky && (
          <Base.Close className="button quiet dialog-close" aria-label="Close">
            <Icon name="close" />
          </Base.Close>
        )}
      </Base.Popup>
    </Base.Portal>
  </Base.Root>
);
