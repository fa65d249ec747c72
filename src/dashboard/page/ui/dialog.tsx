/** Modal dialogs, which trap the focus: plain ones, confirmations and secrets. */

import { AlertDialog } from "@base-ui/react/alert-dialog";
import { Dialog as Base } from "@base-ui/react/dialog";
import type { AtriumServer } from "atrium/server";
import { type ReactNode, useState } from "react";
import { type ActionOptions, useAction } from "../data/organization.tsx";
import { Button, type ButtonProps, CopyButton, Icon } from "./button.tsx";
import { ErrorMessage } from "./feedback.tsx";
import { TextField } from "./fields.tsx";

interface DialogProps {
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

interface SecretProps {
  readonly title: string;
  /** The next step, and the note that it is shown only once. */
  readonly about: string;
  /** Null while there is none to show. */
  readonly secret: string | null;
  readonly what: string;
  readonly onDone: () => void;
  /** Such as an example of its use. */
  readonly children?: ReactNode;
}

/** A dialog with a secret that is shown once; it stays open until the person confirms. */
export const Secret = ({ title, about, secret, what, onDone, children }: SecretProps) => (
  <Dialog title={title} about={about} isOpen={secret !== null} onClose={onDone} isSticky>
    <div className="secret">
      <code>{secret}</code>
      <CopyButton text={secret ?? ""} what={what} label="Copy" />
    </div>
    {children}
    <footer>
      <Button variant="primary" onClick={onDone}>
        Done
      </Button>
    </footer>
  </Dialog>
);

interface ConfirmationProps {
  /** The label of the button that confirms. */
  readonly label: string;
  /** A text that the person must type first, such as a name. */
  readonly typed?: string | undefined;
  readonly isDanger?: boolean | undefined;
  readonly isBusy?: boolean;
  readonly error?: Error | null;
  readonly onConfirm: () => void;
}

/** The lower part of the dialog: a field where one is typed, an error, and the buttons. */
export function Confirmation(props: ConfirmationProps) {
  const { label, typed, isDanger = false, isBusy = false, error = null, onConfirm } = props;
  const [text, setText] = useState("");
  return (
    <>
      {typed !== undefined && (
        <TextField
          label={`Type “${typed}” to confirm`}
          name="confirm"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      )}
      <ErrorMessage error={error} />
      <footer>
        <AlertDialog.Close className="button plain">Cancel</AlertDialog.Close>
        <Button
          variant={isDanger ? "danger" : "primary"}
          disabled={typed !== undefined && text !== typed}
          isBusy={isBusy}
          onClick={onConfirm}
        >
          {label}
        </Button>
      </footer>
    </>
  );
}

interface ConfirmProps extends Pick<ConfirmationProps, "typed"> {
  readonly title: string;
  /** The consequences. */
  readonly children: ReactNode;
  readonly confirmLabel: string;
  readonly action: {
    mutateAsync(): Promise<unknown>;
    readonly isPending: boolean;
    readonly error: Error | null;
  };
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** The input is dropped when it closes. */
export const Confirm = ({ title, children, confirmLabel, typed, action, isOpen, onClose }: ConfirmProps) => (
  <AlertDialog.Root open={isOpen} onOpenChange={(next) => !next && onClose()}>
    <AlertDialog.Portal>
      <AlertDialog.Backdrop className="backdrop" />
      <AlertDialog.Popup className="dialog">
        <AlertDialog.Title>{title}</AlertDialog.Title>
        <AlertDialog.Description className="soft" render={<div />}>
          {children}
        </AlertDialog.Description>
        <Confirmation
          label={confirmLabel}
          typed={typed}
          isDanger
          isBusy={action.isPending}
          error={action.error}
          onConfirm={() => void action.mutateAsync().then(onClose, ignoreShown)}
        />
      </AlertDialog.Popup>
    </AlertDialog.Portal>
  </AlertDialog.Root>
);

/** The dialog shows the error. */
const ignoreShown = () => {};

interface ConfirmButtonProps extends Omit<ConfirmProps, "isOpen" | "onClose">, Pick<ButtonProps, "variant"> {
  /** The label of the button that opens the dialog. */
  readonly label: string;
  /** For screen readers, where many buttons have the same label. */
  readonly accessibleName?: string;
}

/** A button that asks for confirmation. */
export function ConfirmButton({ label, accessibleName, variant = "plain", ...rest }: ConfirmButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant={variant} aria-label={accessibleName} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Confirm {...rest} isOpen={isOpen} onClose={() => setOpen(false)} />
    </>
  );
}

interface ConfirmActionProps<Result> extends Omit<ConfirmButtonProps, "action"> {
  readonly act: (atrium: AtriumServer) => Promise<Result>;
  readonly options: ActionOptions<Result>;
}

/** The same with an action whose result no one needs. */
export const ConfirmAction = <Result,>({ act, options, ...button }: ConfirmActionProps<Result>) => (
  <ConfirmButton {...button} action={useAction(act, options)} />
);
