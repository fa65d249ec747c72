/** Modal dialogs, which trap the focus: plain ones, confirmations, forms and secrets. Also forms, and a button with a menu. */

import { AlertDialog } from "@base-ui/react/alert-dialog";
import { Dialog as Base } from "@base-ui/react/dialog";
import { Form as BaseForm } from "@base-ui/react/form";
import { Menu } from "@base-ui/react/menu";
import type { AtriumServer } from "atrium/server";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { fieldProblemOf } from "../data/errors.ts";
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

export type Values = Readonly<Record<string, string>>;

export interface FormProps<Input> {
  readonly action: {
    mutate(input: Input): void;
    readonly isPending: boolean;
    readonly error: Error | null;
  };
  /** The action's input from the text of the fields; undefined to do nothing. */
  readonly toInput: (values: Values) => Input | undefined;
  readonly submitLabel: string;
  /** True for an action that cannot be undone. */
  readonly isDanger?: boolean;
  readonly onCancel?: () => void;
  readonly children?: ReactNode;
}

export function Form<Input>(props: FormProps<Input>) {
  const { action, toInput, submitLabel, isDanger = false, onCancel, children } = props;
  const form = useRef<HTMLFormElement>(null);
  const problem = fieldProblemOf(action.error);
  const isBesideField = problem !== null && hasTextField(form.current, problem.field);
  return (
    <BaseForm
      ref={form}
      className="form"
      errors={isBesideField ? { [problem.field]: problem.problem } : {}}
      onSubmit={(event) => {
        event.preventDefault();
        const input = action.isPending ? undefined : toInput(readForm(event.currentTarget));
        if (input !== undefined) action.mutate(input);
      }}
    >
      {children}
      {!isBesideField && <ErrorMessage error={action.error} />}
      <footer>
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button type="submit" variant={isDanger ? "danger" : "primary"} isBusy={action.isPending}>
          {submitLabel}
        </Button>
      </footer>
    </BaseForm>
  );
}

/** True for a field that can show a problem. */
function hasTextField(form: HTMLFormElement | null, name: string): boolean {
  const field = form?.elements.namedItem(name);
  return (
    (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) &&
    field.classList.contains("input")
  );
}

const readForm = (form: HTMLFormElement): Values =>
  Object.fromEntries(
    [...new FormData(form)].filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );

export interface FormDialogProps<Input> extends Omit<FormProps<Input>, "onCancel" | "isDanger"> {
  /** The button that opens the dialog. */
  readonly button: ButtonProps & { readonly "data-shortcut"?: "new" };
  readonly title: string;
  /** A description in one sentence. */
  readonly about?: string;
  readonly action: FormProps<Input>["action"] & { readonly isSuccess: boolean; reset(): void };
}

/** A button whose dialog has a form; it closes after success. */
export function FormDialog<Input>({ button, title, about, ...form }: FormDialogProps<Input>) {
  const { isSuccess, reset } = form.action;
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (isSuccess) setOpen(false);
  }, [isSuccess]);
  const switchTo = (next: boolean) => {
    reset();
    setOpen(next);
  };
  return (
    <>
      <Button {...button} onClick={() => switchTo(true)} />
      <Dialog {...{ title, about }} isOpen={isOpen && !isSuccess} onClose={() => switchTo(false)}>
        <Form {...form} onCancel={() => switchTo(false)} />
      </Dialog>
    </>
  );
}
