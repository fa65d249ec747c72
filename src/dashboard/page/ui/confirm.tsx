/** Asks for confirmation of an action that cannot be undone. */
import { AlertDialog } from "@base-ui/react/alert-dialog";
import { type ReactNode, useState } from "react";
import { Button, type ButtonProps } from "./button.tsx";
import { ErrorMessage } from "./error-message.tsx";

export interface ConfirmProps {
  readonly title: string;
  /** The consequences. */
  readonly children: ReactNode;
  /** The label of the button that confirms. */
  readonly confirmLabel: string;
  readonly act: {
    mutateAsync(): Promise<unknown>;
    readonly isPending: boolean;
    readonly error: Error | null;
  };
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export const Confirm = ({ title, children, confirmLabel, act, isOpen, onClose }: ConfirmProps) => (
  <AlertDialog.Root open={isOpen} onOpenChange={(next) => !next && onClose()}>
    <AlertDialog.Portal>
      <AlertDialog.Backdrop className="backdrop" />
      <AlertDialog.Popup className="dialog">
        <AlertDialog.Title>{title}</AlertDialog.Title>
        <AlertDialog.Description className="soft" render={<div />}>
          {children}
        </AlertDialog.Description>
        <ErrorMessage error={act.error} />
        <footer>
          <AlertDialog.Close className="button plain">Cancel</AlertDialog.Close>
          <Button
            variant="danger"
            isBusy={act.isPending}
            onClick={() => act.mutateAsync().then(onClose, ignoreShown)}
          >
            {confirmLabel}
          </Button>
        </footer>
      </AlertDialog.Popup>
    </AlertDialog.Portal>
  </AlertDialog.Root>
);

/** The dialog shows the error. */
const ignoreShown = () => {};

export interface ConfirmButtonProps
  extends Omit<ConfirmProps, "isOpen" | "onClose">,
    Pick<ButtonProps, "variant" | "icon"> {
  /** The label of the button that opens the dialog. */
  readonly label: string;
  /** For screen readers, where many buttons have the same label. */
  readonly accessibleName?: string;
}

/** A button that asks for confirmation. */
export function ConfirmButton({ label, accessibleName, variant, icon, ...rest }: ConfirmButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        variant={variant ?? "plain"}
        {...(icon && { icon })}
        aria-label={accessibleName}
        onClick={() => setOpen(true)}
      >
        {label}
      </Button>
      <Confirm {...rest} isOpen={isOpen} onClose={() => setOpen(false)} />
    </>
  );
}
