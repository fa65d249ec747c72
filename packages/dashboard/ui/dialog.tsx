/** Modal dialogs: plain ones, confirmations and secrets. */

import { isComposing } from "atrium/internal/input-method";
import type { AtriumServer } from "atrium/server";
import { type ReactNode, useId, useState } from "react";
import { createPortal } from "react-dom";
import { type ActionOptions, useAction } from "../data/organization.tsx";
import { Button, type ButtonProps, CopyButton } from "./button.tsx";
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

export function Dialog({ isOpen, isWide = false, isSticky = false, children, ...rest }: DialogProps) {
  if (!isOpen) return null;
  return (
    <Modal {...rest} role="dialog" className={isWide ? "dialog wide" : "dialog"} isClosedOutside={!isSticky}>
      {children}
      {/* Last, so that the focus starts at the dialog's first field. */}
      {!isSticky && (
        <Button
          variant="quiet"
          className="dialog-close"
          icon="close"
          aria-label="Close"
          onClick={rest.onClose}
        />
      )}
    </Modal>
  );
}

interface ModalProps extends Pick<DialogProps, "title" | "about" | "onClose" | "children"> {
  readonly role: "dialog" | "alertdialog";
  readonly className?: string;
  /** False for a dialog that only its own buttons close. */
  readonly isClosedByEscape?: boolean;
  /** True for a dialog that closes when its backdrop is pressed. */
  readonly isClosedOutside?: boolean;
}

/** A dialog that is open as long as it is rendered. The browser traps the focus, and returns it at the end. */
export function Modal(props: ModalProps) {
  const { title, about, onClose, role, className = "dialog", isClosedOutside = false, children } = props;
  const { isClosedByEscape = role === "alertdialog" || isClosedOutside } = props;
  const id = useId();
  return createPortal(
    <dialog
      ref={showModal}
      role={role}
      className={className}
      aria-labelledby={id}
      aria-describedby={about ? `${id}-about` : undefined}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.defaultPrevented || isComposing(event.nativeEvent)) return;
        event.preventDefault();
        if (isClosedByEscape) onClose();
      }}
      // One that has been taken away is closed as well.
      onClose={({ currentTarget }) => currentTarget.isConnected && onClose()}
      onMouseDown={(event) => {
        if (!isClosedOutside || event.target !== event.currentTarget) return;
        event.preventDefault();
        onClose();
      }}
    >
      <div className="dialog-body">
        <h2 id={id}>{title}</h2>
        {about && (
          <div className="soft" id={`${id}-about`}>
            {about}
          </div>
        )}
        {children}
      </div>
    </dialog>,
    document.body,
  );
}

/** Closed before it leaves the page: only then the browser returns the focus. */
function showModal(dialog: HTMLDialogElement): () => void {
  dialog.showModal();
  return () => dialog.close();
}

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
  readonly onCancel: () => void;
}

/** The lower part of the dialog: a field where one is typed, an error, and the buttons. */
export function Confirmation(props: ConfirmationProps) {
  const { label, typed, isDanger = false, isBusy = false, error = null, onConfirm, onCancel } = props;
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
        <Button onClick={onCancel}>Cancel</Button>
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
export function Confirm({ title, children, confirmLabel, typed, action, isOpen, onClose }: ConfirmProps) {
  if (!isOpen) return null;
  return (
    <Modal role="alertdialog" title={title} about={children} onClose={onClose}>
      <Confirmation
        label={confirmLabel}
        typed={typed}
        isDanger
        isBusy={action.isPending}
        error={action.error}
        onConfirm={() => void action.mutateAsync().then(onClose, ignoreShown)}
        onCancel={onClose}
      />
    </Modal>
  );
}

/** The dialog shows the error. */
const ignoreShown = () => {};

interface ConfirmButtonProps extends Omit<ConfirmProps, "isOpen" | "onClose">, Pick<ButtonProps, "variant"> {
  /** The label of the button that opens the dialog. */
  readonly label: string;
  /** The accessible name, where many buttons have the same label. */
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

type ActionButtonProps<Result> = Omit<
  ConfirmActionProps<Result>,
  "title" | "children" | "confirmLabel" | "typed"
>;

/** A button for an action that needs no question; a toast has its result or its error. */
export function ActionButton<Result>(props: ActionButtonProps<Result>) {
  const { label, accessibleName, variant = "quiet", act, options } = props;
  const { isPending, mutate } = useAction(act, { ...options, notifiesErrors: true });
  return (
    <Button variant={variant} aria-label={accessibleName} isBusy={isPending} onClick={() => mutate()}>
      {label}
    </Button>
  );
}
