/** Asks for confirmation of an action that cannot be undone. */
import { AlertDialog } from "@base-ui/react/alert-dialog";
import { type ReactNode, useState } from "react";
import { Button, type ButtonProps } from "./button.tsx";
import { ErrorMessage } from "./feedback.tsx";
import { TextField } from "./fields.tsx";

export interface ConfirmProps {
  readonly title: string;
  /** The consequences. */
  readonly children: ReactNode;
  /** The label of the button that confirms. */
  readonly confirmLabel: string;
  /** A text that the person must type first, such as a name. */
  readonly typed?: string;
  readonly act: {
    mutateAsync(): Promise<unknown>;
    readonly isPending: boolean;
    readonly error: Error | null;
  };
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export const Confirm = ({ title, isOpen, onClose, ...rest }: ConfirmProps) => (
  <AlertDialog.Root open={isOpen} onOpenChange={(next) => !next && onClose()}>
    <AlertDialog.Portal>
      <AlertDialog.Backdrop className="backdrop" />
      <AlertDialog.Popup className="dialog">
        <AlertDialog.Title>{title}</AlertDialog.Title>
        <Consequences {...rest} onClose={onClose} />
      </AlertDialog.Popup>
    </AlertDialog.Portal>
  </AlertDialog.Root>
);

/** Mounted while the dialog is open, so that what was typed is forgotten with it. */
function Consequences({
  children,
  confirmLabel,
  typed,
  act,
  onClose,
}: Omit<ConfirmProps, "title" | "isOpen">) {
  const [text, setText] = useState("");
  return (
    <>
      <AlertDialog.Description className="soft" render={<div />}>
        {children}
      </AlertDialog.Description>
      {typed !== undefined && (
        <TextField
          label={`Type “${typed}” to confirm`}
          name="confirm"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      )}
      <ErrorMessage error={act.error} />
      <footer>
        <AlertDialog.Close className="button plain">Cancel</AlertDialog.Close>
        <Button
          variant="danger"
          disabled={typed !== undefined && text !== typed}
          isBusy={act.isPending}
          onClick={() => act.mutateAsync().then(onClose, ignoreShown)}
        >
          {confirmLabel}
        </Button>
      </footer>
    </>
  );
}

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
