/** Asks before what cannot be undone. */
import { AlertDialog } from "@base-ui/react/alert-dialog";
import { type ReactNode, useState } from "react";
import { Button, type ButtonProps } from "./button.tsx";
import { Refusal } from "./error-message.tsx";

export interface ConfirmProps {
  readonly title: string;
  /** What will become of what. */
  readonly children: ReactNode;
  /** What the button says that does it. */
  readonly verb: string;
  readonly act: {
    mutateAsync(): Promise<unknown>;
    readonly isPending: boolean;
    readonly error: Error | null;
  };
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export const Confirm = ({ title, children, verb, act, isOpen, onClose }: ConfirmProps) => (
  <AlertDialog.Root open={isOpen} onOpenChange={(next) => !next && onClose()}>
    <AlertDialog.Portal>
      <AlertDialog.Backdrop className="backdrop" />
      <AlertDialog.Popup className="dialog">
        <AlertDialog.Title>{title}</AlertDialog.Title>
        <AlertDialog.Description className="soft" render={<div />}>
          {children}
        </AlertDialog.Description>
        <Refusal error={act.error} />
        <footer>
          <AlertDialog.Close className="button plain">Cancel</AlertDialog.Close>
          <Button
            look="danger"
            isBusy={act.isPending}
            onClick={() => act.mutateAsync().then(onClose, ignoreShown)}
          >
            {verb}
          </Button>
        </footer>
      </AlertDialog.Popup>
    </AlertDialog.Portal>
  </AlertDialog.Root>
);

/** The dialog shows it. */
const ignoreShown = () => {};

export interface ConfirmButtonProps
  extends Omit<ConfirmProps, "isOpen" | "onClose">,
    Pick<ButtonProps, "look" | "icon"> {
  /** What the button says that asks. */
  readonly label: string;
  /** For those who listen, where many buttons have the same label. */
  readonly accessibleName?: string;
}

/** A button that asks first. */
export function ConfirmButton({ label, accessibleName, look, icon, ...rest }: ConfirmButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        look={look ?? "plain"}
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
